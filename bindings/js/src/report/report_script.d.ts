/** Made by bindings/js/report_script.mjs. */
declare module '#report-script' {
  export const text: string;
  /** SHA-256 of the text, base64. */
  export const hash: string;
}

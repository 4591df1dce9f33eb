// Emscripten's glue, put there by the build.
declare module '#core-glue' {
  interface GlueOptions {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): object;
    print(text: string): void;
    printErr(text: string): void;
    onAbort(what: unknown): void;
  }
  export default function createCore(options: GlueOptions): Promise<unknown>;
}
declare module '#formats-glue' {
  interface GlueOptions {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): object;
    print(text: string): void;
    printErr(text: string): void;
    onAbort(what: unknown): void;
  }
  export default function createCore(options: GlueOptions): Promise<unknown>;
}

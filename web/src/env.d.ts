/// <reference types="vite/client" />

/** Set by the build: what the footer, error details and saved models say. */
declare const __VERSION__: string;
declare const __COMMIT__: string;

// The package's public surface, and all of it that the page may use.
export * from '../../bindings/js/src/index.js';

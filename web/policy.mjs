// The content security policy of the page. index.html carries it in a <meta>, _headers for hosts that honour such a
// file. Workers may only be started from blob: addresses: such a worker inherits this policy, a fetched one does not.
export const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

// frame-ancestors has no effect in a <meta>.
export const headerPolicy = `${policy}; frame-ancestors 'none'`;

export const headersFile = `/*
  Content-Security-Policy: ${headerPolicy}
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
/assets/*
  Cache-Control: public, max-age=31536000, immutable
`;

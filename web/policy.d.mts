export const policy: string;
export const headerPolicy: string;
export const headersFile: string;

export interface SampleModel {
  name: string;
  package: string;
  version: string;
  path: string;
  bytes: number;
  sha256: string;
  licence: string;
}
export function modelPath(model: SampleModel): string;
export function copySamples(target: string): Promise<void>;

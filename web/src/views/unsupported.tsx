// For browsers that can't run the core: what is missing, and which versions have it.
import type { VNode } from 'preact';

export function Unsupported({ message, next }: { message: string; next: string }): VNode {
  return (
    <main id="main" class="unsupported">
      <h1>Halftone</h1>
      <p role="alert">
        <strong>{message}</strong> {next}
      </p>
    </main>
  );
}

// Version and commit, and the line that opens the proof.
import type { VNode } from 'preact';
import { build } from '../state/build';
import { traffic } from '../state/traffic';
import { openProof } from './proof';

export function ProofLine(): VNode {
  return (
    <button type="button" class="link" aria-haspopup="dialog" onClick={openProof}>
      Nothing leaves this machine
    </button>
  );
}

export function Footer(): VNode {
  const { version, commit } = build.value;
  return (
    <footer class="foot">
      <p>
        <ProofLine />
        <span class="figures foot-count">
          {' '}
          {'\u00b7'} requests to others: {traffic.value.foreign}
        </span>
      </p>
      <p class="figures" data-version={version} data-commit={commit}>
        Halftone {version} {'\u00b7'} {commit}
      </p>
    </footer>
  );
}

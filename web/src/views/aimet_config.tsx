// AIMET's configuration file: which quantizers are on, and how. Without one its default holds.
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { chooseOptions } from '../actions/plan';
import { alarm } from '../state/announce';
import type { Options } from '../state/options';
import { problem } from '../state/store';
import { printable } from '../text/format';

/** Far more than any configuration has; a model dropped here by mistake is not read. */
const kLargestBytes = 4_000_000;

async function readConfig(file: File): Promise<void> {
  const name = printable(file.name, 60);
  try {
    if (file.size > kLargestBytes) throw new Error('too large');
    const value: unknown = JSON.parse(await file.text());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
    await chooseOptions({ config: { name: file.name, value: value as Record<string, unknown> } });
  } catch {
    const failure = {
      code: 'invalid_policy',
      message: `${name} is not a configuration in JSON.`,
      where: name,
      next: 'Choose the file that AIMET itself is given as config_file.',
      during: 'Reading a configuration',
    };
    problem.value = { at: 'plan', problem: failure };
    alarm(`${failure.message} ${failure.next}`);
  }
}

export function AimetConfig({ chosen }: { chosen: Options }): VNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {chosen.config === null ? 'Configuration\u2026' : printable(chosen.config.name, 30)}
      </button>
      {chosen.config !== null && (
        <button type="button" class="link" onClick={() => void chooseOptions({ config: null })}>
          Default configuration
        </button>
      )}
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        tabIndex={-1}
        data-purpose="aimet-config"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = ''; // The same file chosen twice is two choices.
          if (file !== undefined) void readConfig(file);
        }}
      />
    </>
  );
}

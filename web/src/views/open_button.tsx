// The dialog's way in; takes the same files as a drop.
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { takeFiles } from '../actions/open';
import { filesOfDialog } from '../actions/read_drop';

interface Props {
  label: string;
  quiet?: boolean;
  primary?: boolean;
  folder?: boolean;
  name?: string;
}

export function OpenButton({ label, quiet, primary, folder, name }: Props): VNode {
  const input = useRef<HTMLInputElement>(null);
  const take = (event: Event): void => {
    const field = event.currentTarget as HTMLInputElement;
    const files = field.files === null ? [] : filesOfDialog(field.files);
    field.value = ''; // The same file chosen twice is two choices.
    if (files.length > 0) void takeFiles(files);
  };
  const style = primary ? 'primary large' : quiet ? 'quiet' : '';
  return (
    <>
      <button type="button" class={style} onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        data-purpose={name ?? 'open'}
        {...(folder ? { webkitdirectory: true } : {})}
        onChange={take}
      />
    </>
  );
}

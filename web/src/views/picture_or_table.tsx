// Every picture has its table, one key away.
import type { VNode } from 'preact';
import type { Presentation } from '../state/address';
import { presentation } from '../state/store';
import { Switch } from './switch';

export function PictureOrTable({ picture = 'Picture' }: { picture?: string }): VNode {
  return (
    <Switch<Presentation>
      legend="Shown as"
      value={presentation.value}
      all={[
        ['bars', picture],
        ['table', 'Table'],
      ]}
      onChoose={(value) => {
        presentation.value = value;
      }}
    />
  );
}

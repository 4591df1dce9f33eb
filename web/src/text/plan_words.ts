// How a plan's decisions read in tables and in the inspector.
import type { InputDecision, Site } from '../package';
import type { ScaleGroup } from '../state/plan_rows';
import { counted, printable } from './format';

export function granularityText(site: Site): string {
  if (site.granularity === 'tensor') return 'per tensor';
  if (site.granularity === 'channel') return `per channel, axis ${site.axis ?? 0}`;
  return `blocks of ${site.block_size ?? 0}`;
}

/** "Concat n05", "Concat n05 and 2 more": what makes its sites share one scale. */
export function concatText({ concats }: ScaleGroup): string {
  const [first] = concats;
  if (first === undefined) return 'shared';
  const more = concats.length - 1;
  return `Concat ${printable(first, 48)}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Who else has a site's scale. */
export function sharingText(site: Site, group: ScaleGroup): string {
  const others = group.tensors.filter((tensor) => tensor !== site.tensor);
  const named = others.slice(0, 4).map((tensor) => printable(tensor, 48));
  const rest = others.length - named.length;
  const list = named.join(', ') + (rest > 0 ? ` and ${counted(rest, 'more tensor')}` : '');
  return `${concatText(group)}: the same scale as ${list}`;
}

/** "cask:conv_1" is a group of kernels for matrix products, "kgen:…" one of generated pointwise kernels. */
export function partitionText(partition: InputDecision['partition']): string {
  return partition === null ? '\u2013' : printable(partition, 80);
}

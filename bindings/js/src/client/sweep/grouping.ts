// Groups that JavaScript makes: by a function of the user's, over the quantizers that a sweep would score.
import { HalftoneError } from '../../shared/errors.js';
import type { SweepChoice } from '../../shared/protocol.js';
import type { Encodings, Grouping, Plan, SensitivityOptions } from '../../types.js';

const NAMES = ['quantizer', 'operator', 'layer', 'op_name'];

/** How the core and a results file call it. */
export function groupingName(by: Grouping | undefined): string {
  if (by === undefined) return 'quantizer';
  if (typeof by === 'function') return 'function';
  if (typeof by === 'string' && (NAMES.includes(by) || by.startsWith('re:'))) return by;
  throw new HalftoneError('invalid_policy', `There is no grouping "${String(by)}".`, {
    next: `Use ${NAMES.join(', ')}, re: and a regular expression that captures a name, or a function.`,
  });
}

/** The groups of a function, in order of first appearance; null for what the core groups. */
export function givenGroups(
  plan: Plan,
  { encodings }: Encodings,
  { by, only }: SensitivityOptions,
): SweepChoice['groups'] {
  if (typeof by !== 'function') return null;
  const groups = new Map<string, string[]>();
  for (const site of plan.sites) {
    if (!site.quantized || site.role === 'bias' || !Object.hasOwn(encodings, site.tensor)) continue;
    if (only !== undefined && only !== `${site.role}s`) continue;
    const key: unknown = by(site);
    if (key === null || key === undefined) continue;
    if (typeof key !== 'string') {
      throw new HalftoneError(
        'invalid_policy',
        `The grouping function gave a ${typeof key} for "${site.tensor}", and a string or null is needed.`,
        { where: site.tensor },
      );
    }
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [site.tensor]);
    else group.push(site.tensor);
  }
  return [...groups].map(([key, sites]) => ({ key, sites }));
}

// Options of a plan from callers without types: one sentence, never a fault of ours.
import { describe, expect, it } from 'vitest';
import { checkPlanOptions } from '../../bindings/js/src/client/plan_options.js';
import type { PlanOptions } from '../../bindings/js/src/index.js';

describe('options of a plan', () => {
  it.each([
    [{ target: 7 }, 'target', 'a text'],
    [{ target: 'tensorrt', match: 4 }, 'match', 'a text'],
    [{ weights: 9 }, 'weights', 'a text'],
    [{ include: [4] }, 'include', 'a list of texts'],
    [{ exclude: 'op:Conv' }, 'exclude', 'a list of texts'],
    [{ dla: 'yes' }, 'dla', 'true or false'],
    [{ perChannel: null }, 'perChannel', 'true or false'],
    [{ sampleShapes: [{ tensor: 'x', shape: [1] }] }, 'sampleShapes', 'a list of pairs'],
    [{ sampleShapes: [['x', [-1]]] }, 'sampleShapes', 'whole numbers from 0'],
    [{ sampleShapes: [['x', [1.5]]] }, 'sampleShapes', 'whole numbers from 0'],
  ])('%j is refused by name', (options, where, kind) => {
    const attempt = () => checkPlanOptions(options as unknown as PlanOptions);
    expect(attempt).toThrow(kind);
    expect(attempt).toThrow(expect.objectContaining({ code: 'invalid_policy', where }));
  });

  it('an unknown one is refused with those that there are', () => {
    const attempt = () => checkPlanOptions({ targets: 'tensorrt' } as PlanOptions);
    expect(attempt).toThrow('There is no plan option "targets".');
    expect(attempt).toThrow(expect.objectContaining({ next: expect.stringContaining('target, match') }));
  });

  it('what has the right type goes on to the core', () => {
    checkPlanOptions({});
    checkPlanOptions({ target: 'tensorrt', match: 'modelopt', dla: false, include: ['a'], exclude: [] });
    checkPlanOptions({ sampleShapes: [['x', [1, 3, 0]]], concatGroups: true });
  });
});

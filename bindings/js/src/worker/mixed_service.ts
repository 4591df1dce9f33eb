// Plans at mixed precision: costs, flips, and the models of a search.
import type { FlipChanges, Skeleton } from '../shared/protocol.js';
import type { Encodings, Plan } from '../types.js';
import { type Core, type CoreChanges, type CoreMixed, type CoreModel, unwrap } from './core.js';
import type { Handlers } from './dispatch.js';
import { Table } from './tables.js';

export function mixedHandlers(coreOf: () => Core, models: Table<CoreModel>): Handlers {
  const searches = new Table<CoreMixed>('search');
  return {
    'cost.shapes': ({ model }) => unwrap(coreOf().shapesForCost(models.get(model))),
    cost: ({ model, plan, shapes }) =>
      unwrap(coreOf().modelCost(models.get(model), JSON.stringify(plan), shapes)),
    flip: ({ model, plan, encodings, results, request, shapes }) => {
      const texts = {
        plan: JSON.stringify(plan),
        encodings: JSON.stringify(encodings),
        results: JSON.stringify(results),
      };
      const { flipped, before, after, predicted, ...changes } = unwrap(
        coreOf().flipRows(models.get(model), texts, request, shapes),
      );
      return { flipped, before, after, predicted, changes: parsed(changes) };
    },
    'mixed.start': ({ model, plan, encodings, request, shapes }) => {
      const { search, ...info } = unwrap(
        coreOf().createMixed(
          models.get(model),
          JSON.stringify(plan),
          JSON.stringify(encodings),
          request,
          shapes,
        ),
      );
      return { ...info, search: searches.add(search) };
    },
    'mixed.cost': ({ search, tensors }) => unwrap(searches.get(search).cost(tensors)),
    'mixed.model': ({ search, tensors }, context): Skeleton => {
      const skeleton = unwrap(searches.get(search).skeleton(tensors));
      context.transfer(skeleton.model.buffer, ...skeleton.buffers.map((buffer) => buffer.bytes.buffer));
      return skeleton;
    },
    'mixed.changes': ({ search, tensors }) => parsed(unwrap(searches.get(search).changes(tensors))),
    'mixed.end': ({ search }) => {
      searches.take(search)?.delete();
      return null;
    },
  };
}

function parsed({ plan, encodings, dropped, warnings }: CoreChanges): FlipChanges {
  const { sites, inputs } = JSON.parse(plan) as Plan;
  return { sites, inputs, encodings: (JSON.parse(encodings) as Encodings).encodings, dropped, warnings };
}

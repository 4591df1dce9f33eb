// The choices that make a plan: target, formats, and what each target has besides. What doesn't apply isn't there.
import type { VNode } from 'preact';
import { chooseOptions, resetOptions } from '../actions/plan';
import type { TargetName } from '../package';
import {
  type Flag,
  flagsOf,
  kActivationFormats,
  kDefaultOptions,
  kPrecisions,
  kTargets,
  kWeightFormats,
  type Options,
  type Precision,
  sameOptions,
} from '../state/options';
import { options } from '../state/store';
import { AimetConfig } from './aimet_config';
import { Choice } from './choice';
import { Patterns } from './patterns';

const itself = <T extends string>(name: T): readonly [T, T] => [name, name];

const kPrecisionNames: Record<Precision, string> = { int8: 'int8', float8e4m3fn: 'FP8 (float8e4m3fn)' };

const kFlagWords: Record<Flag, { label: string; short: string; what: string }> = {
  perChannel: {
    label: 'Weights per channel',
    short: 'weights per tensor',
    what: 'A scale for each output channel of a weight instead of one for all of it.',
  },
  matchModelOpt: {
    label: 'As ModelOpt, faults included',
    short: 'as ModelOpt',
    what: 'Places and scales exactly as NVIDIA ModelOpt does, where it errs too.',
  },
  matchAimet: {
    label: 'Round as AIMET does',
    short: 'rounded as AIMET does',
    what: 'Constants are rounded half up as by AIMET\u2019s kernel, where QuantizeLinear rounds half to even.',
  },
  dla: {
    label: 'For the deep learning accelerator',
    short: 'for the DLA',
    what: 'Every operator is quantized; the rules about speed are left out.',
  },
  floatWeights: {
    label: 'Float weights',
    short: 'float weights',
    what: 'Weights stay float behind a Q/DQ pair, instead of codes behind a DequantizeLinear.',
  },
  directIo: {
    label: 'Direct inputs and outputs',
    short: 'direct inputs and outputs',
    what: 'Inputs and outputs of the model become tensors of codes where a pair sits on them.',
  },
  concatGroups: {
    label: 'Share scales across Concat',
    short: 'a scale for each branch of a Concat',
    what: 'Tensors that a Concat joins get one scale, so that TensorRT can drop the Concat.',
  },
  rawExcluded: {
    label: 'Excluded nodes read raw tensors',
    short: 'excluded nodes read raw',
    what: 'Also where a neighbour reads the same tensor quantized.',
  },
};

function FlagBox({ flag, explained }: { flag: Flag; explained?: boolean }): VNode {
  const { label, what } = kFlagWords[flag];
  return (
    <label class={explained ? 'check explained' : 'check'}>
      <input
        type="checkbox"
        checked={options.value[flag]}
        onChange={(event) => void chooseOptions({ [flag]: event.currentTarget.checked })}
      />{' '}
      {label}
      {explained && <span class="hint">{what}</span>}
    </label>
  );
}

function Formats({ chosen }: { chosen: Options }): VNode {
  if (chosen.target === 'tensorrt')
    return (
      <Choice<Precision>
        label="Precision"
        value={chosen.precision}
        all={kPrecisions.map((name) => [name, kPrecisionNames[name]] as const)}
        onChoose={(precision) => void chooseOptions({ precision })}
      />
    );
  return (
    <>
      <Choice
        label="Activations"
        value={chosen.activations}
        all={kActivationFormats.map(itself)}
        onChoose={(activations) => void chooseOptions({ activations })}
      />
      <Choice
        label="Weights"
        value={chosen.weights}
        all={kWeightFormats.map(itself)}
        onChoose={(weights) => void chooseOptions({ weights })}
      />
    </>
  );
}

/** What differs from the target's defaults, said while the fold is closed. */
function changedFlags(chosen: Options, flags: readonly Flag[]): string {
  const changed = flags.filter((flag) => chosen[flag] !== kDefaultOptions[flag]);
  return changed.length === 0
    ? 'as the target has them'
    : changed.map((flag) => kFlagWords[flag].short).join(', ');
}

export function PlanOptionBar(): VNode {
  const chosen = options.value;
  const flags = flagsOf(chosen);
  const folded = flags.length > 1 ? flags : [];
  return (
    <>
      <fieldset class="options">
        <legend class="unseen">Options</legend>
        <Choice<TargetName>
          label="Target"
          value={chosen.target}
          all={kTargets.map(({ name, label }) => [name, label] as const)}
          onChoose={(target) => void chooseOptions({ target })}
        />
        <Formats chosen={chosen} />
        {chosen.target === 'aimet' && <AimetConfig chosen={chosen} />}
        {folded.length === 0 && flags.map((flag) => <FlagBox key={flag} flag={flag} />)}
        <button
          type="button"
          disabled={sameOptions(chosen, kDefaultOptions)}
          onClick={() => void resetOptions()}
        >
          Reset
        </button>
      </fieldset>
      <div class="folds">
        {folded.length > 0 && (
          <details class="fold" data-part="more">
            <summary>
              More options <span class="hint">{changedFlags(chosen, folded)}</span>
            </summary>
            <fieldset class="flags">
              <legend class="unseen">More options</legend>
              {folded.map((flag) => (
                <FlagBox key={flag} flag={flag} explained />
              ))}
            </fieldset>
          </details>
        )}
        <Patterns />
      </div>
    </>
  );
}

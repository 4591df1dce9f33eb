// The command line: which command, which options, and how it ends.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { compareModels } from './compare.js';
import { decode } from './decode.js';
import { demo } from './demo.js';
import { diffResults } from './diff.js';
import { encode } from './encode.js';
import { EXIT, reportFailure, UsageError } from './errors.js';
import { flip } from './flip.js';
import { formats } from './formats.js';
import { inspect } from './inspect.js';
import { merge } from './merge.js';
import { addPrecisionOptions, between } from './mixed_options.js';
import {
  addCalibrationOptions,
  addEngineOptions,
  addOutputOptions,
  addPlanOptions,
  addSampleOptions,
  addScoreOption,
  choice,
  collect,
  numbers,
  whole,
} from './options.js';
import { pareto } from './pareto.js';
import { plan } from './plan.js';
import { quantize } from './quantize.js';
import { report } from './report.js';
import { sensitivity } from './sensitivity.js';
import { serve } from './serve.js';
import { addSweepOptions } from './sweep_options.js';
import type { Context } from './work.js';

/** `args` are those after the program's name. Never throws; gives the exit status. */
export async function main(args: readonly string[], context: Context): Promise<number> {
  try {
    const program = commands(context);
    if (args.length === 0) {
      context.terminal.err(program.helpInformation());
      return EXIT.usage;
    }
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (thrown) {
    const failure = thrown instanceof CommanderError ? usageOf(thrown) : thrown;
    return failure === null ? EXIT.ok : reportFailure(failure, context.terminal, args.includes('--json'));
  }
}

/** null for --help and --version, which commander ends by throwing. */
function usageOf(error: CommanderError): UsageError | null {
  if (error.exitCode === 0) return null;
  const [sentence = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const hint = more
    .join(' ')
    .trim()
    .replace(/^\(|\)$/g, '');
  const text = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`.replace(/\.?$/, '.');
  return hint === '' ? new UsageError(text) : new UsageError(text, `${hint} See halftone --help.`);
}

function commands(context: Context): Command {
  const program = new Command('halftone')
    .description(
      'Quantizes ONNX models: places Q/DQ pairs, finds ranges from samples, and ranks quantizers by how much they hurt.',
    )
    .version(context.halftone.version, '--version')
    .helpOption('--help', 'say what there is')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.terminal.out(text), writeErr: () => {} });

  addModelCommands(program, context);
  addResultCommands(program, context);
  addFormatCommands(program, context);
  addPageCommands(program, context);
  return program;
}

function add(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).allowExcessArguments(false);
}

function addModelCommands(program: Command, context: Context): void {
  const command = (name: string, description: string) => add(program, name, description);
  addEngineOptions(
    addOutputOptions(
      command('inspect <model>', 'what is in a model, and what blocks quantizing it'),
      'write JSON',
    ),
  ).action((model, options) => inspect(model, options, context));
  const planning = addOutputOptions(command('plan <model>', 'every site with its reason'), 'write the plan');
  addSampleOptions(addPlanOptions(addEngineOptions(planning)))
    .option('--inputs', 'list every input of every node instead of sites')
    .option('--filter <text>', 'list only what has this text in its name, rule or reason')
    .action((model, options) => plan(model, options, context));
  const quantizing = addOutputOptions(
    command('quantize <model>', 'write the model with Q/DQ pairs'),
    'default: NAME.qdq.onnx in this folder',
  );
  addScoreOption(
    addCalibrationOptions(addSampleOptions(addPlanOptions(addEngineOptions(quantizing)))),
  ).action((model, options) => quantize(model, options, context));
  const scoring = addOutputOptions(
    command('sensitivity <model>', 'each quantizer or group alone, worst first'),
    'write the results',
  );
  addSweepOptions(addCalibrationOptions(addSampleOptions(addPlanOptions(addEngineOptions(scoring))))).action(
    (model, options) => sensitivity(model, options, context),
  );
  addMixedCommands(program, context);
  const comparing = addOutputOptions(
    command('compare <a> <b>', 'outputs of two models side by side'),
    'write JSON',
  );
  addSampleOptions(addEngineOptions(comparing)).action((a, b, options) =>
    compareModels(a, b, options, context),
  );
}

function addMixedCommands(program: Command, context: Context): void {
  const flipping = addOutputOptions(
    add(program, 'flip <model>', 'what hurts most at a higher precision: a plan, and encodings beside it'),
    'default: NAME.flipped.json in this folder',
  );
  addPrecisionOptions(addCalibrationOptions(addSampleOptions(addPlanOptions(addEngineOptions(flipping)))))
    .requiredOption('--results <file>', 'the ranking')
    .option('--worst <n>', 'flip this many rows', whole(0, 1_000_000))
    .option('--percent <p>', 'flip this share of the rows', between(0, 100))
    .option('--threshold <score>', 'flip all rows that are worse', between(-Infinity, Infinity))
    .option('--row <name>', 'flip this row (repeatable)', collect, [])
    .action((model, options) => flip(model, options, context));
  const searching = addOutputOptions(
    add(program, 'pareto <model>', 'mixed-precision models: score against bytes and bit-operations'),
    'a folder; default: NAME.pareto in this folder',
  );
  addPrecisionOptions(
    addScoreOption(addCalibrationOptions(addSampleOptions(addPlanOptions(addEngineOptions(searching))))),
  )
    .option('--results <file>', 'a ranking by quantizer; made first otherwise')
    .option('--max-bytes <factor>', 'of the weights, to those of the plan', between(1, Infinity), 1.15)
    .option('--max-bit-ops <factor>', 'of the bit-operations', between(1, Infinity), 1.5)
    .option('--most <n>', 'models to measure, about', whole(1, 1_000_000))
    .option('--report <file>', 'write everything as one HTML file')
    .action((model, options) => pareto(model, options, context));
}

function addResultCommands(program: Command, context: Context): void {
  addOutputOptions(
    add(program, 'merge <results...>', 'the shards of one sensitivity run, as one run would have made them'),
    'write the results',
  )
    .option('--report <file>', 'write everything as one HTML file')
    .option('--csv <file>', 'write the ranking as CSV')
    .action((paths, options) => merge(paths, options, context));
  addOutputOptions(
    add(program, 'diff <a> <b>', 'two sensitivity results side by side: scores and ranks'),
    'write JSON',
  ).action((a, b, options) => diffResults(a, b, options, context));
  add(program, 'report <results>', 'results of halftone or AIMET as one HTML file')
    .requiredOption('-o, --output <file>', 'the HTML file')
    .option('--force', 'replace an output that exists')
    .option('--plan <file>', 'the plan that was scored')
    .option('--encodings <file>', 'its ranges')
    .option('--json', 'errors as JSON')
    .option('--quiet', 'print nothing')
    .action((results, options) => report(results, options, context));
}

function addFormatCommands(program: Command, context: Context): void {
  const encoding = addOutputOptions(
    add(program, 'encode <source>', 'a .npy array, or the weights of a model, in a number format'),
    'default in this folder: NAME.FORMAT.pb (one EncodedValueProto), NAME.FORMAT.json (codes and scales beside it), or NAME.FORMAT.onnx',
  );
  addEngineOptions(encoding)
    .requiredOption('--format <name>', 'see halftone formats')
    .option('--block <n>', 'values that share a scale; default: the format’s', whole(1, 2 ** 32 - 1))
    .option('--tensors <pattern>', 'of a model, only these weights (repeatable)', collect, [])
    .option('--name <text>', 'of an array: name of the encoded value; default: of the file')
    .option('--scales <s,…>', 'of an array: one, or one for each block; computed otherwise', numbers)
    .option('--zero-points <z,…>', 'of an array: one, or one for each block', numbers)
    .option(
      '--standard',
      'of a model: standard ONNX and onnxruntime’s operators where there is an equivalent',
    )
    .option('--round-scales', 'with --standard: also where scales have to be rounded to float32')
    .action((source, options) => encode(source, options, context));
  const decoding = addOutputOptions(
    add(
      program,
      'decode <source>',
      'an encoded value (.pb) or codes and scales (.json) as .npy, or a model with plain weights again',
    ),
    'default: NAME.npy or NAME.float.onnx in this folder',
  );
  addEngineOptions(decoding)
    .addOption(choice('--type <name>', 'of the array', ['float32', 'double', 'float16'], []))
    .option('--standard', 'of a model: to standard ONNX and onnxruntime’s operators, not to plain weights')
    .option('--round-scales', 'with --standard: also where scales have to be rounded to float32')
    .action((source, options) => decode(source, options, context));
  const comparing = addOutputOptions(
    add(program, 'formats [source]', 'all number formats; with a .npy array or a model, what they do to it'),
    'write JSON',
  );
  addEngineOptions(comparing)
    .option('--format <name>', 'only this one (repeatable)', collect, [])
    .option('--block <n>', 'a block size to try (repeatable)', collectWhole, [])
    .option('--tensors <pattern>', 'of a model, only these weights (repeatable)', collect, [])
    .option('--bits <n>', 'what a weight may take, overhead included', between(0, 64))
    .option('--csv <file>', 'write the comparison as CSV')
    .action((source, options) => formats(source, options, context));
}

function collectWhole(text: string, before: number[]): number[] {
  return [...before, whole(1, 2 ** 32 - 1)(text)];
}

function addPageCommands(program: Command, context: Context): void {
  add(program, 'serve', 'the page, on this machine only')
    .option('--port <n>', 'default: 8321 or the next free one', portNumber)
    .addOption(new Option('--host <address>', 'listen on another address than this machine’s own').hideHelp())
    .action((options) => serve(options, context));
  addEngineOptions(add(program, 'demo', 'everything on a bundled model (in a checkout), then the page'))
    .option('--no-serve', 'end without serving the page')
    .option('--port <n>', 'where the page is served: default 8321 or the next free one', portNumber)
    .option('--quiet', 'no progress')
    .action((options) => demo(options, context));
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

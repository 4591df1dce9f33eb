// Names the failed tests of a report, with the first lines of why: node failed_tests.mjs SUITE REPORT. A REPORT is Catch2's XML
// or vitest's JSON. `./test` repeats them behind everything else, since a log is often known by its end only.
import { readFileSync } from 'node:fs';

const MOST_TESTS = 20;
const MOST_REASONS = 3;
const MOST_CHARACTERS = 400;

const ENTITIES = { lt: '<', gt: '>', quot: '"', amp: '&', apos: "'" };
const plain = (text) =>
  text
    .replace(/&(lt|gt|quot|amp|apos);/g, (_, name) => ENTITIES[name])
    .replace(/\s+/g, ' ')
    .trim();

/** Of a program that died in a test the report ends within it. */
function catch2Failures(xml) {
  const seed = /rng-seed="(\d+)"/.exec(xml)?.[1];
  return xml
    .split('<TestCase ')
    .slice(1)
    .filter((test) => !/<OverallResult success="true"/.test(test))
    .map((test) => ({
      name: `${plain(/name="([^"]*)"/.exec(test)?.[1] ?? '?')} (seed ${seed})`,
      reasons: [
        ...test.matchAll(
          /<(?:Expression success="false"|Exception|FatalErrorCondition|Failure)[^>]*line="(\d+)"[^>]*>([\s\S]*?)<\/|<Info[^>]*>([\s\S]*?)<\/Info>/g,
        ),
      ].map(([whole, line, text, info]) =>
        info === undefined ? `line ${line}: ${plain(expressionOf(whole, test, text))}` : plain(info),
      ),
    }));
}

/** What was asked, and what it was with values in place. */
function expressionOf(whole, test, text) {
  if (!whole.startsWith('<Expression')) return text;
  const inner = test.slice(test.indexOf(whole), test.indexOf('</Expression>', test.indexOf(whole)));
  const part = (tag) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(inner)?.[1] ?? '';
  return `${part('Original')} is ${part('Expanded')}`;
}

function vitestFailures(report) {
  return report.testResults.flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && file.status === 'failed') return [{ name: file.name, reasons: [file.message] }];
    return failed.map((test) => ({ name: test.fullName, reasons: test.failureMessages }));
  });
}

const [suite, path] = process.argv.slice(2);
const text = readFileSync(path, 'utf8');
const failures = path.endsWith('.xml') ? catch2Failures(text) : vitestFailures(JSON.parse(text));
for (const { name, reasons } of failures.slice(0, MOST_TESTS)) {
  console.log(`${suite}: ${name}`);
  for (const reason of reasons.slice(0, MOST_REASONS))
    console.log(`    ${plain(reason).slice(0, MOST_CHARACTERS)}`);
}
if (failures.length > MOST_TESTS) console.log(`${suite}: and ${failures.length - MOST_TESTS} more`);

// Rounds of a sweep: a round is asked for once, when the one before is complete, whoever is waiting.
import { describe, expect, it } from 'vitest';
import { TaskQueue } from '../../bindings/js/src/client/sweep/task_queue.js';

const never = new AbortController().signal;

describe('a task queue', () => {
  it('hands out each task once, round after round, to any number of lanes', async () => {
    const rounds = [['a', 'b', 'c'], ['d'], ['e', 'f']];
    const asked: string[][] = [];
    const seen: string[] = [];
    const queue = new TaskQueue<string>(async () => {
      asked.push([...seen].sort());
      return rounds.shift() ?? [];
    });
    const lane = async () => {
      for (let task = await queue.take(never); task !== null; task = await queue.take(never)) {
        await Promise.resolve();
        seen.push(task);
        queue.done();
      }
    };
    await Promise.all([lane(), lane(), lane()]);
    expect([...seen].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    // What was done when each round was asked for: all of the rounds before, always.
    expect(asked.slice(0, 4)).toEqual([
      [],
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ]);
  });

  it('lets waiting lanes go when one fails and the run is aborted', async () => {
    const stop = new AbortController();
    const queue = new TaskQueue<string>(async () => ['only']);
    expect(await queue.take(stop.signal)).toBe('only');
    const waiting = queue.take(stop.signal);
    stop.abort();
    expect(await waiting).toBe(null);
  });

  it('passes on what goes wrong in asking for a round', async () => {
    const queue = new TaskQueue<string>(async () => {
      throw new Error('no round');
    });
    await expect(queue.take(never)).rejects.toThrow('no round');
  });
});

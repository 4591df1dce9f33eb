// What is said about samples without refusing them. Thousands of files with the same remark make one warning.
import type { Warning } from '../types.js';

export class Notices {
  private readonly byText = new Map<string, { code: string; text: string; where: string; count: number }>();

  /** `text` is the rest of a sentence that starts with the file's name: "holds 8 samples". */
  add(code: string, text: string, where: string): void {
    const key = `${code}\n${text}`;
    const known = this.byText.get(key);
    if (known === undefined) this.byText.set(key, { code, text, where, count: 1 });
    else ++known.count;
  }

  warnings(): Warning[] {
    return [...this.byText.values()].map(({ code, text, where, count }) => {
      const others = count === 1 ? '' : ` (and ${count - 1} more file${count === 2 ? '' : 's'} like it)`;
      return { code, message: `${where} ${text}${others}.`, where };
    });
  }
}

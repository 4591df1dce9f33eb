export interface BudgetLine {
  what: string;
  value: number;
  limit: number | null;
}
export function measure(folder: string): BudgetLine[];
export function checkBudget(folder: string): void;

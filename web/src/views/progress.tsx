// The running job: what it is, how far, how long still, and the way out.
import type { VNode } from 'preact';
import { cancelJob } from '../actions/job';
import { job } from '../state/store';
import { timeLeft } from '../text/format';

export function JobProgress(): VNode | null {
  const current = job.value;
  if (current === null) return null;
  const share = current.total > 0 ? current.done / current.total : 0;
  const percent = Math.floor(share * 100);
  const left = current.secondsLeft === null ? '' : timeLeft(current.secondsLeft);
  return (
    <div class="job">
      <span class="job-title">{current.title}</span>
      <div
        class="bar"
        role="progressbar"
        aria-label={current.title}
        aria-valuemin={0}
        aria-valuemax={current.total}
        aria-valuenow={current.done}
        aria-valuetext={`${percent} %${left === '' ? '' : `, ${left}`}`}
      >
        <div class="bar-fill" style={{ transform: `scaleX(${share})` }} />
      </div>
      <span class="job-left figures">
        {percent}&nbsp;%{left === '' ? '' : ` \u00b7 ${left}`}
      </span>
      <button type="button" class="cancel" disabled={current.cancelling} onClick={() => cancelJob()}>
        {current.cancelling ? 'Cancelling' : 'Cancel'}
      </button>
    </div>
  );
}

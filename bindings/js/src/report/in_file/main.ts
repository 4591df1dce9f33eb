// The script inside a report. It adds to what is there: order, filters, links between table and picture, channels, files to save.
import type { Embedded } from '../embedded.js';
import { showChannels } from './channels.js';
import { RankingView } from './ranking_view.js';
import { offerFiles } from './saves.js';
import { sortableTables } from './tables.js';

const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as Embedded;
document.documentElement.classList.add('scripted');
sortableTables();
if (data.results.ranking.length > 0) new RankingView(data);
showChannels(data);
offerFiles(data);

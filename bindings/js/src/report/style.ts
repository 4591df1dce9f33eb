// How a report looks: ink on paper, paper on ink in the dark, and on printed pages everything that scripts would hide.

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c1b18; --paper: #f7f4ec; --quiet: #57544c; --line: #d8d2c4; --accent: #00607a; --hit: #b3261e; --chosen: #e2edec; }
@media (prefers-color-scheme: dark) { :root { --ink: #ebe7dc; --paper: #161613; --quiet: #aca79a; --line: #36342d; --accent: #74cbe0; --hit: #ff8a7a; --chosen: #1c2f34; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin-top: 2rem; border-top: 1px solid var(--line); padding-top: 1rem; }
nav a { margin-right: 1rem; } a { color: var(--accent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--quiet); padding-bottom: .4rem; }
th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; }
th { vertical-align: bottom; } td.number, th.number { text-align: right; white-space: nowrap; }
th button { font: inherit; font-weight: 700; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-align: inherit; }
tr.chosen { background: var(--chosen); } #ranking tbody tr, #ranges tbody tr { cursor: pointer; }
.scroll, .graph { overflow: auto; } .data { width: 100%; } .scroll:has(> .data) { max-height: 36rem; } .graph { max-height: 44rem; border: 1px solid var(--line); }
.soft { color: var(--quiet); } .differ { color: var(--hit); font-weight: 600; }
.controls { display: flex; flex-wrap: wrap; gap: .6rem 1.2rem; align-items: center; } .controls fieldset { border: 0; padding: 0; margin: 0; display: flex; gap: .8rem; }
.controls legend { float: left; margin-right: .6rem; } .controls p { margin: 0; } #chips { display: flex; flex-wrap: wrap; gap: .4rem; flex-basis: 100%; }
input, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 3px; padding: .1rem .5rem; }
#limit { width: 8rem; } button { cursor: pointer; } .chip[aria-pressed="true"] { background: var(--accent); color: var(--paper); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.plot { position: relative; margin: 1rem 0; } .plot svg, .scroll > svg:not([width]) { width: 100%; height: auto; display: block; }
#tooltip { position: absolute; max-width: 24rem; background: var(--paper); border: 1px solid var(--ink); padding: .3rem .6rem; pointer-events: none; font-size: .85rem; overflow-wrap: anywhere; z-index: 1; }
#tooltip b { font-weight: 600; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .grid { stroke: var(--line); }
svg .weight, svg .dot, svg .range { fill: var(--ink); } svg .activation, svg .group { fill: var(--paper); stroke: var(--ink); stroke-width: 1.5; }
svg .bad { stroke: var(--hit); stroke-width: 2; fill: none; } svg .whisker, svg .edge, svg .curve { fill: none; stroke: var(--quiet); } svg .edge.float { stroke-dasharray: 4 3; }
svg .node { fill: var(--paper); stroke: var(--quiet); } svg .input { fill: var(--chosen); stroke: var(--quiet); }
.mark.hit > :last-child { fill: var(--hit); stroke: var(--hit); stroke-width: 3; } .mark.miss { opacity: .25; } .mark.chosen > :last-child { stroke: var(--accent); stroke-width: 5; }
#threshold { cursor: ns-resize; } #threshold .guide { stroke: var(--hit); stroke-dasharray: 6 4; } #threshold .grip { fill: transparent; } #threshold .knob { fill: var(--hit); } #threshold.idle { opacity: .5; }
.scripted .unscripted { display: none; }
@media print { .controls, .saves, nav { display: none !important; } .scroll, .graph, .scroll:has(> .data) { max-height: none; overflow: visible; } .graph svg { max-width: 100%; height: auto; } body { max-width: none; margin: 0; } tr, figure { break-inside: avoid; } details::details-content { content-visibility: visible; } }
`;

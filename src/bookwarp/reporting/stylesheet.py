"""The style of a report's page: light and dark, narrow and wide, on a screen and on paper."""

STYLESHEET = """
:root { color-scheme: light dark; --ink: #1a1a1b; --paper: #ffffff; --soft: #63666b;
  --line: #d5d8dc; --note: #fff3d6; --note-ink: #503a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #16181b; --soft: #a3a8b0;
  --line: #3a3f46; --note: #41350f; --note-ink: #ffe9b3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; }
p { max-width: 46rem; }
.note { background: var(--note); color: var(--note-ink); padding: .6rem .9rem;
  border-radius: .4rem; }
.figures { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; min-width: 0; max-width: 40rem; }
figure.wide { grid-column: 1 / -1; max-width: 54rem; }
figure svg { display: block; width: 100%; height: auto; }
figure h3 { font-size: 1rem; margin: 0 0 .3rem; line-height: 1.3; }
figcaption { font-size: .875rem; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
table.numbers th, table.numbers td { text-align: right; white-space: nowrap; }
table.facts th { font-weight: 600; white-space: nowrap; }
table.facts td { overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; font-size: .875rem; }
@media print { :root { --ink: #000; --paper: #fff; --soft: #444; --line: #bbb; --note: #fff;
  --note-ink: #000; } body { max-width: none; font-size: 10pt; }
  .figures { grid-template-columns: 1fr 1fr; } figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; } }
"""

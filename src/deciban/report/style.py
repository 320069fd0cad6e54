"""How the page looks: on a desk, on a phone, in the dark, on paper."""

from __future__ import annotations

CSS = """
:root { color-scheme: light; --ink: #1d2730; --soft: #55636f; --line: #d9dfe4; --blue: #1f6a9c;
  --warn: #9a4a12; --pale: #f5f7f9; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: #fff; font: 16px/1.55 system-ui, sans-serif; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: #fff; padding: 8px; z-index: 1; }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p, li, figcaption, summary, dd { overflow-wrap: anywhere; max-width: 46rem; }
a { color: var(--blue); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid #f0a020;
  outline-offset: 2px; }
.soft, figcaption, caption { color: var(--soft); }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap;
  gap: .25rem 1rem; }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll + .scroll { margin-top: 1.25rem; }
table { width: max-content; border-collapse: collapse; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .25rem 0; font-size: .9rem; }
th, td { text-align: left; padding: .3rem 1rem .3rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); font-weight: normal; }
th[scope=col] { color: var(--soft); white-space: nowrap; }
th[scope=row] { max-width: 18rem; overflow-wrap: break-word; }
td { max-width: 34rem; overflow-wrap: break-word; }
.number { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; }
figcaption { font-size: .9rem; margin-top: .25rem; }
svg { max-width: 100%; height: auto; display: block; }
.wide svg { max-width: none; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 0 2rem; align-items: start; }
.key { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; margin: 1rem 0; list-style: none; }
.key li { background: var(--pale); border-radius: 6px; padding: .6rem .9rem; min-width: 9.5rem;
  flex: 1 1 9.5rem; }
.key b { display: block; font-size: 1.35rem; }
.key small { color: var(--soft); display: block; }
.warning { border-left: 4px solid var(--warn); background: #fdf6ef; padding: .5rem .9rem;
  margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.warning b { color: var(--warn); }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; padding: .2rem 0; }
footer { color: var(--soft); font-size: .9rem; padding-top: 1rem; padding-bottom: 3rem; }
@media (max-width: 30rem) { body { font-size: 15px; } header, main, footer { padding-left: 1rem;
  padding-right: 1rem; } th, td { padding-right: .7rem; } }
@media print {
  @page { margin: 16mm 14mm; }
  body { font-size: 10.5pt; }
  nav, .skip { display: none; }
  header, main, footer { max-width: none; padding: 0; }
  h2 { break-after: avoid; } h3 { break-after: avoid; }
  figure, tr, .warning, .key li { break-inside: avoid; }
  .scroll { overflow: visible; } table { width: auto; }
  .wide svg { max-width: 100%; }
  details { break-inside: avoid; }
  details::details-content { content-visibility: visible; height: auto; }
  a { color: inherit; text-decoration: none; }
}
"""

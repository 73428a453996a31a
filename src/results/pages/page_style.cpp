#include "results/pages/page_parts.h"

namespace bench {

// Light and dark are two sets of variables; print is always light. Verdicts differ by their words
// as well as by colour.
const char* const kPageStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#111;--soft:#555;--rule:#ccc;--grid:#ddd;--good:#0a6b2b;--bad:#b00020;--unsure:#8a5a00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#2f93cc;--c5:#b57a00;--c6:#7f6f00;--c7:#555;--none:#bbb}
@media(prefers-color-scheme:dark){:root:not([data-look=light]){--paper:#15181c;--ink:#e8e8e8;--soft:#a8adb3;--rule:#3a4047;--grid:#2b3036;--good:#5fd08a;--bad:#ff7a85;--unsure:#f0b95a;
--c0:#56b4e9;--c1:#ff8c42;--c2:#35c79a;--c3:#e79ac8;--c4:#8ecbf0;--c5:#f0b840;--c6:#d6c840;--c7:#bbb;--none:#555}}
:root[data-look=light]{color-scheme:light}
:root[data-look=dark]{color-scheme:dark;--paper:#15181c;--ink:#e8e8e8;--soft:#a8adb3;--rule:#3a4047;--grid:#2b3036;--good:#5fd08a;--bad:#ff7a85;--unsure:#f0b95a;
--c0:#56b4e9;--c1:#ff8c42;--c2:#35c79a;--c3:#e79ac8;--c4:#8ecbf0;--c5:#f0b840;--c6:#d6c840;--c7:#bbb;--none:#555}
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:76em;margin:1.5em auto;padding:0 1em;overflow-wrap:anywhere}
h1{font-size:1.5em;margin:0 0 .4em}h2{font-size:1.15em;margin:1.8em 0 .4em}
header{display:flex;justify-content:space-between;align-items:start;gap:1em}
.w{border-left:3px solid var(--unsure);padding-left:.8em}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:40%}
th,td{border-bottom:1px solid var(--rule);padding:.25em .5em;text-align:left;vertical-align:top;overflow-wrap:normal;white-space:nowrap}
td.l{white-space:normal;overflow-wrap:anywhere;min-width:18em}
thead th{position:sticky;top:0;background:var(--paper);white-space:nowrap}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
button,input{font:inherit;color:inherit;background:none;border:1px solid var(--rule);border-radius:4px;padding:.15em .6em}
th button{border:0;padding:0;font-weight:700;cursor:pointer}
th[aria-sort=ascending] button::after{content:" \25b2"}th[aria-sort=descending] button::after{content:" \25bc"}
.find{margin:.4em 0}.find span{color:var(--soft);margin-left:.6em}
.v{font-weight:700;white-space:nowrap}
.pass,.improved,.equivalent,.ok{color:var(--good)}.fail,.failed,.regressed,.invalid{color:var(--bad)}
.inconclusive,.changed,.suspect,.expired{color:var(--unsure)}
figure{margin:1em 0}.fig{overflow:auto;max-height:85vh}figcaption{color:var(--soft);max-width:60em}
svg.plot{min-width:30em;max-width:100%;height:auto;fill:var(--ink)}
svg .grid{stroke:var(--grid)}svg .ink{stroke:var(--ink)}svg .rule{stroke:var(--bad)}svg .none{fill:var(--none)}
svg .s0{stroke:var(--c0);fill:var(--c0)}svg .s1{stroke:var(--c1);fill:var(--c1)}svg .s2{stroke:var(--c2);fill:var(--c2)}svg .s3{stroke:var(--c3);fill:var(--c3)}
svg .s4{stroke:var(--c4);fill:var(--c4)}svg .s5{stroke:var(--c5);fill:var(--c5)}svg .s6{stroke:var(--c6);fill:var(--c6)}svg .s7{stroke:var(--c7);fill:var(--c7)}
@media(max-width:40em){body{font-size:13px;padding:0 .6em}th,td{padding:.2em .4em}}
@media print{:root,:root[data-look=dark]{color-scheme:light;--paper:#fff;--ink:#111;--soft:#555;--rule:#ccc;--grid:#ddd;--good:#0a6b2b;--bad:#b00020;--unsure:#8a5a00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#2f93cc;--c5:#b57a00;--c6:#7f6f00;--c7:#555;--none:#bbb}
body{margin:0;max-width:none;font-size:10pt}header button,.find{display:none}.wide,.fig{overflow:visible;max-height:none}
tr,svg{break-inside:avoid}thead{display:table-header-group}thead th{position:static}}
@page{margin:15mm})";

}  // namespace bench

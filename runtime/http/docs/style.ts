/** The page's only style sheet. It names no other resource. */
export const DOCS_STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfd;--panel:#fff;--ink:#17181c;--soft:#5b6070;--line:#e6e8ee;--code-bg:#10131a;
--code-ink:#d7deea;--code-soft:#8a94a8;--accent:#3b5bdb;--get:#1864ab;--post:#1f7030;--put:#9c5000;--delete:#be2626;
--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media(prefers-color-scheme:dark){:root{--bg:#0f1116;--panel:#161922;--ink:#e8eaf0;--soft:#9aa3b5;--line:#262b37;
--code-bg:#0a0c11;--accent:#8ea4ff;--get:#74c0fc;--post:#69db7c;--put:#ffa94d;--delete:#ff8787}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1.5rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.6 var(--sans);-webkit-font-smoothing:antialiased}
h1,h2,h3,nav,.chip,dd,.status{overflow-wrap:anywhere}
nav li a span:last-child,.layout>*{min-width:0}
a{color:inherit;text-decoration:none}
a:focus-visible,summary:focus-visible,pre:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.layout{display:grid;grid-template-columns:17rem minmax(0,1fr);min-height:100vh}
nav{position:sticky;top:0;align-self:start;height:100vh;overflow:auto;padding:2rem 1.25rem;border-right:1px solid var(--line)}
nav .brand{font-weight:650;font-size:1.05rem;letter-spacing:-.01em}
nav .version{color:var(--soft);font-size:.8rem}
nav h2{margin:1.75rem 0 .4rem;font-size:.7rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:flex;gap:.6rem;align-items:baseline;padding:.3rem .5rem;margin:0 -.5rem;border-radius:6px;font-size:.875rem;line-height:1.35}
nav li a:hover{background:var(--line)}
nav .verb{flex:none;width:3.1rem;font:600 .65rem/1 var(--mono)}
main{padding:3.5rem clamp(1.5rem,4vw,4.5rem) 6rem;max-width:86rem}
header h1{margin:0;font-size:2.3rem;line-height:1.15;letter-spacing:-.025em;font-weight:680}
header p{margin:.75rem 0 0;max-width:44rem;color:var(--soft);font-size:1.05rem}
header .facts{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.25rem}
.chip{border:1px solid var(--line);border-radius:99px;padding:.15rem .75rem;font:.78rem/1.6 var(--mono);color:var(--soft);background:var(--panel)}
a.chip:hover{border-color:var(--accent);color:var(--accent)}
.group{margin:4rem 0 0;font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft);font-weight:650}
article{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,30rem);gap:2.5rem;padding:2.25rem 0;border-top:1px solid var(--line);margin-top:1rem}
article:target .route{border-color:var(--accent)}
h3{margin:0;font-size:1.35rem;line-height:1.3;letter-spacing:-.015em;font-weight:640}
h4{margin:1.9rem 0 .35rem;font-size:.72rem;letter-spacing:.08em;text-transform:uppercase;color:var(--soft);font-weight:650}
.route{display:inline-flex;flex-wrap:wrap;gap:.65rem;align-items:center;margin:.75rem 0 0;padding:.3rem .7rem;border:1px solid var(--line);border-radius:8px;background:var(--panel);font:.85rem/1.5 var(--mono);overflow-wrap:anywhere}
.verb{font-weight:700}
.GET{color:var(--get)}.POST{color:var(--post)}.PUT,.PATCH{color:var(--put)}.DELETE{color:var(--delete)}
.about{margin:.9rem 0 0;color:var(--soft);white-space:pre-line}
dl{margin:0}
.field{padding:.6rem 0;border-top:1px solid var(--line)}
.field:first-child{border-top:0}
dt{display:flex;flex-wrap:wrap;gap:.15rem .65rem;align-items:baseline}
dt code{font:600 .85rem/1.5 var(--mono);overflow-wrap:anywhere}
dt .type{font:.76rem/1.5 var(--mono);color:var(--soft);overflow-wrap:anywhere}
dt .must{font-size:.7rem;color:var(--put);font-weight:600}
dd{margin:.1rem 0 0;font-size:.9rem;color:var(--soft)}
dd code,.about code,header p code,.status code{font:.86em/1.4 var(--mono);padding:.08em .35em;border-radius:4px;background:var(--line);color:var(--ink)}
.status{display:grid;grid-template-columns:3rem minmax(0,1fr);gap:.25rem;padding:.35rem 0;font-size:.875rem;border-top:1px solid var(--line)}
.status:first-child{border-top:0}
.status b{font:600 .82rem/1.75 var(--mono);color:var(--soft)}
.status.ok b{color:var(--post)}
.status span{color:var(--soft)}
.try{position:sticky;top:1.5rem;align-self:start;display:grid;gap:1rem}
figure{margin:0;border-radius:12px;overflow:hidden;background:var(--code-bg);color:var(--code-ink)}
figcaption{display:flex;justify-content:space-between;gap:1rem;padding:.55rem 1rem;font-size:.75rem;color:var(--code-soft);border-bottom:1px solid #ffffff14}
pre{margin:0;padding:.9rem 1rem 1.1rem;overflow:auto;max-height:26rem;white-space:pre-wrap;overflow-wrap:anywhere;font:.8rem/1.65 var(--mono);tab-size:2}
pre.once{user-select:all;-webkit-user-select:all}
details summary{cursor:pointer;margin-top:1.9rem;font-size:.72rem;letter-spacing:.08em;text-transform:uppercase;color:var(--soft);font-weight:650}
footer{margin-top:4rem;padding-top:1.25rem;border-top:1px solid var(--line);font-size:.85rem;color:var(--soft)}
@media(max-width:70rem){article{grid-template-columns:minmax(0,1fr)}.try{position:static}}
@media(max-width:48rem){.layout{grid-template-columns:minmax(0,1fr)}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding-top:2rem}header h1{font-size:1.8rem}}
@media print{nav,.try{display:none}.layout,article{display:block}}
`;

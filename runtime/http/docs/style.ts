/** The page's only style sheet. It names no other resource. */
export const DOCS_STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfd;--panel:#fff;--ink:#17181c;--soft:#5b6070;--line:#e6e8ee;--code-bg:#10131a;
--code-ink:#d7deea;--code-soft:#8a94a8;--accent:#3b5bdb;--get:#1864ab;--post:#1f7030;--put:#9c5000;--delete:#be2626}
@media(prefers-color-scheme:dark){:root{--bg:#0f1116;--panel:#161922;--ink:#e8eaf0;--soft:#9aa3b5;--line:#262b37;
--code-bg:#0a0c11;--accent:#8ea4ff;--get:#74c0fc;--post:#69db7c;--put:#ffa94d;--delete:#ff8787}}
*{box-sizing:border-box;min-width:0}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.6 system-ui,sans-serif;display:grid;grid-template-columns:17rem 1fr;overflow-wrap:anywhere}
a{color:inherit}nav a,h3 a{text-decoration:none}
a:focus-visible,summary:focus-visible,pre:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
nav{position:sticky;top:0;align-self:start;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);font-size:.875rem}
nav ul{list-style:none;margin:0;padding:0}nav a{display:block;padding:.25rem}
nav a:hover{background:var(--line)}
main{padding:2rem clamp(1rem,4vw,4rem);max-width:86rem}
h2{font-size:1rem}h3{margin:0;font-size:1.3rem}h4{margin:1.5rem 0 .3rem;font-size:.9rem}
.group{margin:3rem 0 0}
article{display:grid;grid-template-columns:1fr minmax(0,30rem);gap:2rem;padding:2rem 0;border-top:1px solid var(--line)}
code,pre,.route,.type,.verb{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.85rem}
.verb{font-weight:700}.GET{color:var(--get)}.POST{color:var(--post)}.PUT,.PATCH,.must{color:var(--put)}.DELETE{color:var(--delete)}
.about{white-space:pre-line}.about,dd,.type,footer,header p{color:var(--soft)}
dl{margin:0}dl>div{padding:.4rem 0;border-top:1px solid var(--line)}dd{margin:0}
dd code,p code{background:var(--line);color:var(--ink);padding:.1em .3em}
figure{margin:0 0 1rem;padding:.8rem 1rem;border-radius:8px;background:var(--code-bg);color:var(--code-ink)}
figcaption{color:var(--code-soft);font-size:.8rem}
pre{margin:.5rem 0 0;overflow:auto;max-height:26rem;white-space:pre-wrap;user-select:all;-webkit-user-select:all}
summary{cursor:pointer;margin-top:1.5rem}
@media(max-width:70rem){article{grid-template-columns:1fr}}
@media(max-width:48rem){body{grid-template-columns:1fr}nav{position:static;height:auto;border:0}}
`;

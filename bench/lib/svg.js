/** Small plots as SVG text: horizontal bars, one per row. */

const WIDTH = 860;
const LABEL_WIDTH = 360;
const VALUE_WIDTH = 150;
const ROW_HEIGHT = 24;
const BAR_HEIGHT = 16;
const HEADER_HEIGHT = 40;
const FONT = 'font-family="system-ui, sans-serif" font-size="12"';
const INK = '#24292f';
const COLOURS = [
  '#0969da',
  '#8c959f',
  '#bf8700',
  '#1a7f37',
  '#cf222e',
  '#8250df',
  '#bc4c00',
  '#57606a',
  '#1b7c83',
  '#d4a72c',
];

/**
 * @param rows `label`, `value`, `text` beside the bar, `strong` for the row that matters
 */
export function barChart({ title, rows }) {
  const greatest = Math.max(...rows.map(({ value }) => value));
  const body = rows.map((row, index) => {
    const width = barWidth(row.value, greatest);
    const colour = row.strong ? COLOURS[0] : COLOURS[1];
    const y = HEADER_HEIGHT + index * ROW_HEIGHT;
    return (
      line(row, y) +
      rectangle(LABEL_WIDTH, y, width, colour) +
      text(LABEL_WIDTH + width + 6, y + 12, row.text)
    );
  });
  return frame(title, rows.length, body);
}

/**
 * @param rows `label`, `text`, and `parts` with `name` and `value`; parts of one name have one colour
 */
export function stackedChart({ title, rows }) {
  const sum = ({ parts }) => parts.reduce((total, { value }) => total + value, 0);
  const greatest = Math.max(...rows.map(sum));
  const names = [...new Set(rows.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const colourOf = (name) => COLOURS[names.indexOf(name) % COLOURS.length];
  const bars = rows.map((row, index) => {
    const y = HEADER_HEIGHT + index * ROW_HEIGHT;
    let x = LABEL_WIDTH;
    const pieces = row.parts.map(({ name, value }) => {
      const width = barWidth(value, greatest);
      x += width;
      return rectangle(x - width, y, width, colourOf(name));
    });
    return line(row, y) + pieces.join('') + text(x + 6, y + 12, row.text);
  });
  const legend = names.map((name, index) => {
    const y = HEADER_HEIGHT + (rows.length + index) * ROW_HEIGHT;
    return (
      rectangle(LABEL_WIDTH, y, BAR_HEIGHT, colourOf(name)) + text(LABEL_WIDTH + BAR_HEIGHT + 6, y + 12, name)
    );
  });
  return frame(title, rows.length + names.length, [...bars, ...legend]);
}

function barWidth(value, greatest) {
  return Math.max(1, ((WIDTH - LABEL_WIDTH - VALUE_WIDTH) * value) / greatest);
}

function line({ label, strong }, y) {
  return text(LABEL_WIDTH - 8, y + 12, label, `text-anchor="end"${strong ? ' font-weight="600"' : ''}`);
}

function rectangle(x, y, width, colour) {
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${colour}"/>\n`;
}

function text(x, y, content, attributes = '') {
  return `<text x="${x.toFixed(1)}" y="${y}" fill="${INK}" ${FONT} ${attributes}>${escaped(content)}</text>\n`;
}

function frame(title, rows, body) {
  const height = HEADER_HEIGHT + rows * ROW_HEIGHT + 8;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">\n` +
    `<title>${escaped(title)}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n` +
    `${text(12, 22, title, 'font-weight="600"')}${body.join('')}</svg>\n`
  );
}

function escaped(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

#include "results/pages/page_parts.h"

namespace bench {

// Cells without a number go last in either direction. The order of equal rows is kept, so that a
// click on one column after another sorts by both.
const char* const kPageScript = R"(
'use strict';
(function () {
  function key(row, column) {
    var cell = row.cells[column];
    if (!cell) return null;
    var number = cell.getAttribute('data-s');
    if (number !== null) return Number(number);
    var text = cell.textContent;
    return text === '' ? null : text;
  }
  function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', {numeric: true});
  }
  function sort(head) {
    var table = head.closest('table'), column = head.cellIndex;
    var up = head.getAttribute('aria-sort') !== 'ascending';
    Array.prototype.forEach.call(head.parentNode.cells, function (other) {
      other.removeAttribute('aria-sort');
    });
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row) {
      return {row: row, key: key(row, column)};
    });
    rows.sort(function (a, b) {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return up ? compare(a.key, b.key) : compare(b.key, a.key);
    });
    var all = document.createDocumentFragment();
    rows.forEach(function (one) { all.appendChild(one.row); });
    body.appendChild(all);
  }
  function search(table) {
    var words = document.createElement('input'), count = document.createElement('span');
    words.type = 'search';
    words.placeholder = 'Only rows with\u2026';
    words.setAttribute('aria-label', 'Only rows with');
    function show() {
      var wanted = words.value.toLowerCase(), shown = 0, rows = table.tBodies[0].rows;
      Array.prototype.forEach.call(rows, function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        if (!row.hidden) shown += 1;
      });
      count.textContent = shown + ' of ' + rows.length + ' rows';
    }
    words.addEventListener('input', show);
    var line = document.createElement('div');
    line.className = 'find';
    line.appendChild(words);
    line.appendChild(count);
    table.parentNode.parentNode.insertBefore(line, table.parentNode);
    show();
  }
  function sorted_by_click(head) {
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.textContent = '';
    head.appendChild(button);
    button.addEventListener('click', function () { sort(head); });
  }
  function look() {
    var root = document.documentElement, button = document.createElement('button');
    var dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    function name() { button.textContent = dark ? 'Light' : 'Dark'; }
    button.type = 'button';
    button.id = 'look';
    button.addEventListener('click', function () {
      dark = !dark;
      root.setAttribute('data-look', dark ? 'dark' : 'light');
      name();
    });
    name();
    document.querySelector('header').appendChild(button);
  }
  look();
  Array.prototype.forEach.call(document.querySelectorAll('table'), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, sorted_by_click);
    if (table.tBodies[0].rows.length > 12) search(table);
  });
})();
)";

}  // namespace bench

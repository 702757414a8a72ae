// Zoom and search of a flame graph. Each group of class "frame" has its place in the whole graph in data-x and data-w.
(function () {
  'use strict';
  var graph = document.getElementById('flamegraph');
  var frames = Array.prototype.slice.call(graph.querySelectorAll('.frame'));
  var message = graph.getElementById('message');
  var whole = Number(graph.getAttribute('data-width'));
  var letter = Number(graph.getAttribute('data-letter'));

  function fit(name, width) {
    var room = Math.floor((width - 6) / letter);
    return room < 3 ? '' : name.length <= room ? name : name.slice(0, room - 2) + '..';
  }

  function place(frame, x, width, behind) {
    var shape = frame.querySelector('rect');
    var text = frame.querySelector('text');
    frame.style.display = width < 0.1 ? 'none' : '';
    frame.style.opacity = behind ? 0.5 : 1;
    shape.setAttribute('x', x);
    shape.setAttribute('width', width);
    text.setAttribute('x', x + 3);
    text.textContent = fit(frame.getAttribute('data-name'), width);
  }

  function zoom(target) {
    var from = Number(target.getAttribute('data-x'));
    var size = Number(target.getAttribute('data-w'));
    var depth = Number(target.getAttribute('data-depth'));
    frames.forEach(function (frame) {
      var x = Number(frame.getAttribute('data-x'));
      var w = Number(frame.getAttribute('data-w'));
      var below = Number(frame.getAttribute('data-depth')) < depth;
      var left = Math.max(x, from);
      var right = Math.min(x + w, from + size);
      // A function below stays if it called the target: then its range includes the target's.
      var shown = below ? x <= from + 0.001 && x + w >= from + size - 0.001 : right > left;
      place(frame, (left - from) / size * whole, shown ? (right - left) / size * whole : 0, below);
    });
  }

  function search() {
    var wanted = window.prompt('Search by a regular expression; nothing ends the search', '');
    if (wanted === null) {
      return;
    }
    var pattern;
    try {
      pattern = new RegExp(wanted);
    } catch (e) {
      message.textContent = 'This is no regular expression: ' + wanted;
      return;
    }
    var found = [];
    frames.forEach(function (frame) {
      var hit = wanted !== '' && pattern.test(frame.getAttribute('data-name'));
      frame.classList.toggle('found', hit);
      if (hit) {
        found.push([Number(frame.getAttribute('data-x')), Number(frame.getAttribute('data-w'))]);
      }
    });
    // A function that is in the stack of another found one counts once.
    found.sort(function (a, b) { return a[0] - b[0] || b[1] - a[1]; });
    var end = 0;
    var sum = 0;
    found.forEach(function (range) {
      if (range[0] >= end - 0.001) {
        sum += range[1];
        end = range[0] + range[1];
      }
    });
    message.textContent = wanted === '' ? '' : wanted + ': ' + (100 * sum / whole).toFixed(2) + '%';
  }

  frames.forEach(function (frame) {
    frame.addEventListener('click', function () { zoom(frame); });
    frame.addEventListener('keydown', function (event) {
      if (event.key === 'Enter') {
        zoom(frame);
      }
    });
    frame.addEventListener('focus', function () {
      message.textContent = frame.querySelector('title').textContent;
    });
    frame.addEventListener('mouseover', function () {
      message.textContent = frame.querySelector('title').textContent;
    });
  });

  function button(id, action) {
    var text = graph.getElementById(id);
    text.addEventListener('click', action);
    text.addEventListener('keydown', function (event) {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        action();
      }
    });
  }

  button('reset', function () { zoom(frames[0]); });
  button('search', search);
  window.addEventListener('keydown', function (event) {
    if (event.key === 'Escape') {
      zoom(frames[0]);
    } else if (event.key === 'f' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      search();
    }
  });
})();

import { Parser } from 'htmlparser2'
import test from 'ava'
import fc from 'fast-check'
import { atOnce } from '../../../../../core/base/turns.js'
import { pageText } from '../../../../../plugins/tools/web/html/to-markdown.js'
import { isLinear } from '../../../../support/linear.js'

const read = (html: string, markdown = true, most = 1_000_000) =>
  atOnce(pageText(Parser, html, { url: 'https://example.com/a/b', markdown, most }))
const markdown = (html: string): string => read(html).text

test('tools-44: a page becomes Markdown with headings, lists, links, code, quotes and tables', (t) => {
  const { title, text } = read(`<!doctype html><html><head><title> A
    page </title><style>p{}</style><script>alert('<p>no</p>')</script></head><body>
    <h1>Top <em>one</em></h1><p>Some <b>bold</b>   text,<br>two lines &amp; <a href="../c?d=1#e">a link</a>.</p>
    <ul><li>one<ul><li>deep</li></ul></li><li><p>two</p></li></ul><ol start="3"><li>three</li><li>four</li></ol>
    <pre><code>if (a &lt; b) {
  c()
}</code></pre><blockquote><p>said</p><p>more</p></blockquote><hr>
    <table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td><p>1</p><p>2</p></td></tr></table>
    <img src="x.png" alt="a cat"><p>end</p></body></html>`)
  t.is(title, 'A page')
  t.is(
    text,
    [
      '# Top *one*',
      'Some **bold** text,\ntwo lines & [a link](https://example.com/c?d=1#e).',
      '- one\n  - deep\n- two',
      '3. three\n4. four',
      '```\nif (a < b) {\n  c()\n}\n```',
      '> said\n>\n> more',
      '---',
      '| k | v |\n| --- | --- |\n| a | 1 2 |',
      '[image: a cat]',
      'end',
    ].join('\n\n'),
  )
})

test('tools-44: as text a page is its words', (t) => {
  t.is(read('<h1>T</h1><p>a <b>b</b> <a href="/x">c</a></p><ul><li>d</li></ul>', false).text, 'T\n\na b c\n\n- d')
})

test('tools-44: what a page hides is left out, and links that no browser would follow are words', (t) => {
  t.is(markdown('<p>a<span hidden>b</span><span style="Display : None">c</span><template>d</template>e</p>'), 'ae')
  t.is(markdown('<a href="javascript:alert(1)">a</a> <a href="data:,x">b</a> <a href="#c">c</a>'), 'a b c')
  t.is(markdown('<a href="/x y)z"> a </a><a href="/e"></a><b></b>'), '[a](https://example.com/x%20y%29z)')
  t.is(markdown('<base href="https://other.example/d/"><a href="f">g</a>'), '[g](https://other.example/d/f)')
  t.is(markdown('<svg><title>no</title></svg>text<title>late</title>'), 'text')
})

test('tools-60: what inline styles make unseen is left out', (t) => {
  const styled = (style: string): string => markdown(`<p>a<span style="${style}">b <b>c</b></span>d</p>`)
  for (const unseen of [
    'font-size:0',
    'color:red; FONT-SIZE : 0px !important',
    'opacity:0',
    'opacity: .0',
    'visibility:hidden',
    'visibility:collapse',
    'disp/* */lay:none',
    'position:absolute;left:-9999px',
    'position: fixed; top: -100em',
    'text-indent:-999px',
    'position:absolute;clip:rect(0,0,0,0)',
    'position:absolute; clip: rect(1px 1px 1px 1px)',
    'width:0;height:0;overflow:hidden',
    'max-width:0px;max-height:0px;overflow:hidden',
    'color:#fff;background:white',
    'background-color:rgb(255, 255, 255);color:#FFFFFF',
  ])
    t.is(styled(unseen), 'ad', unseen)
  for (const seen of [
    'font-size:0.5em',
    'opacity:0.1',
    'position:absolute;left:-99px',
    'left:-9999px',
    'position:absolute;clip:rect(0,100px,20px,0)',
    'clip:rect(0,0,0,0)',
    'width:0;overflow:hidden',
    'height:0;width:0',
    'color:#fff;background:#000',
    'color:inherit;background:inherit',
    'margin:0;/* display:none */',
    'content:opacity 0',
    'display:none;display:block',
  ])
    t.is(styled(seen), 'ab **c**d', seen)
})

test('tools-60: what has a size or a colour of its own within is seen', (t) => {
  t.is(
    markdown('<div style="font-size:0">a<p style="font-size:16px">b</p><p style="font-size:2em">c</p></div>d'),
    'b\n\nd',
  )
  t.is(markdown('<p style="color:#fff;background:#fff">a<span style="color:#000">b</span>c</p><p>d</p>'), 'b\n\nd')
})

test('tools-44: any HTML ends, in time that grows with its length, and within the bound', (t) => {
  const piece = fc.constantFrom(
    '<p>',
    '</p>',
    '<ul>',
    '<li>',
    '<td>',
    '<p style="font-size:0">',
    '<p style="/*">',
    '<a href=b>',
    '</a>',
    '<pre>',
    '<b>',
    '</x>',
    'w ',
    '&lt;',
    '<',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, plain) => {
      const { text } = read(pieces.join(''), plain)
      return !/\n{3}/u.test(text) && text === text.trim()
    }),
    { numRuns: 1_000 },
  )
  for (const deep of ['<div>', '<ul><li>', '<b>', '<blockquote>', '<a href=x>', '<svg>', '<table><tr><td>'])
    t.true(
      isLinear((size) => void read(deep.repeat(size)), 100_000),
      deep,
    )
  t.true(isLinear((size) => void read('<i>'.repeat(400) + '</x>'.repeat(size)), 400_000))
  const long = read('<a href="x">y</a> '.repeat(500_000), true, 10_000)
  t.true(long.isCut && long.text.length < 100_000)
  t.true(read('<div>'.repeat(5_000)).isCut)
  t.false(read('<div>'.repeat(400)).isCut)
})

test('a page of blanks in preformatted text is read as fast as any', (t) => {
  t.true(isLinear((n) => void read(`<pre>a${' '.repeat(n)}x</pre>`), 100_000))
})

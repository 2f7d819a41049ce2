import test from 'ava'
import { contentsText as contentsOf, resultText as textOf } from '../../../../../plugins/tools/mcp/tools/result.js'
import type { JsonObject } from '../../../../../core/plugin.js'
import { across, holdsPiece, redactCanary } from '../../../../support/canaries.js'

const contentsText = (result: JsonObject): string => contentsOf(result, redactCanary)
const resultText = (result: JsonObject): string => textOf(result, redactCanary)

test('mcp-8: of a text 256 Ki characters are kept, and it is said how many are not', (t) => {
  const most = 256 * 1024
  const of = (text: string): string => resultText({ content: [{ type: 'text', text }] })
  t.is(of('x'.repeat(most)).length, most)
  t.is(of('x'.repeat(most + 7)), `${'x'.repeat(most)}\n[Cut: 7 more characters.]`)
  const long = contentsText({ contents: [{ uri: 'a:b', text: 'x'.repeat(most) }] })
  t.regex(long, /^\[The resource a:b:\]\nx+\n\[Cut: 20 more characters\.\]$/u)
})

test('mcp-8: what is no text is told in words, what is odd too, and a structure stands in for no text', (t) => {
  const content = [
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'audio', data: 'AAAAAAAA' },
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'x/y', blob: 'AAAA' } },
    { type: 'resource_link', uri: 'c:d', name: 'D' },
    { type: 'other' },
    7,
  ]
  t.deepEqual(resultText({ content }).split('\n'), [
    '[An image, image/png, 3 bytes: not shown.]',
    '[A sound, of an unknown type, 6 bytes: not played.]',
    '[The resource a:b, x/y, 3 bytes: not shown.]',
    '[The resource c:d, D: a link.]',
    '[A part of an unknown kind.]',
    '[A part that cannot be read.]',
  ])
  t.is(resultText({ content: [], structuredContent: { a: 1 } }), '{"a":1}')
  t.is(resultText({}), '')
})

test('secrets-25: a secret across the cut of an answer or a resource is redacted', (t) => {
  const most = 256 * 1024
  for (const text of across(most)) {
    t.false(holdsPiece(resultText({ content: [{ type: 'text', text }] })))
    t.false(holdsPiece(resultText({ content: [], structuredContent: { text: text.slice(9) } })))
    t.false(holdsPiece(contentsText({ contents: [{ uri: 'a:b', text: text.slice('[The resource a:b:]\n'.length) }] })))
  }
})

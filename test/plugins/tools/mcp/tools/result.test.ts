import test from 'ava'
import { contentsText as contentsOf, resultText as textOf } from '../../../../../plugins/tools/mcp/tools/result.js'
import { shownSchema } from '../../../../../plugins/tools/mcp/tools/shown-schema.js'
import type { Json, JsonObject } from '../../../../../core/plugin.js'
import { across, cutCanary, holdsPiece, redactCanary } from '../../../../support/canaries.js'

const contentsText = (result: JsonObject): Promise<string> => contentsOf(result, redactCanary)
const resultText = (result: JsonObject): Promise<string> => textOf(result, redactCanary)

test('mcp-8: of a text 256 Ki characters are kept, and it is said how many are not', async (t) => {
  const most = 256 * 1024
  const of = (text: string): Promise<string> => resultText({ content: [{ type: 'text', text }] })
  t.is((await of('x'.repeat(most))).length, most)
  t.is(await of('x'.repeat(most + 7)), `${'x'.repeat(most)}\n[Cut: 7 more characters.]`)
  const long = await contentsText({ contents: [{ uri: 'a:b', text: 'x'.repeat(most) }] })
  t.regex(long, /^\[The resource a:b:\]\nx+\n\[Cut: 20 more characters\.\]$/u)
})

test('mcp-8: what is no text is told in words, what is odd too, and a structure stands in for no text', async (t) => {
  const content = [
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'audio', data: 'AAAAAAAA' },
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'x/y', blob: 'AAAA' } },
    { type: 'resource_link', uri: 'c:d', name: 'D' },
    { type: 'other' },
    7,
  ]
  t.deepEqual((await resultText({ content })).split('\n'), [
    '[An image, image/png, 3 bytes: not shown.]',
    '[A sound, of an unknown type, 6 bytes: not played.]',
    '[The resource a:b, x/y, 3 bytes: not shown.]',
    '[The resource c:d, D: a link.]',
    '[A part of an unknown kind.]',
    '[A part that cannot be read.]',
  ])
  t.is(await resultText({ content: [], structuredContent: { a: 1 } }), '{"a":1}')
  t.is(await resultText({}), '')
})

test('secrets-25: a secret across the cut of an answer or a resource is redacted', async (t) => {
  const most = 256 * 1024
  for (const text of across(most)) {
    t.false(holdsPiece(await resultText({ content: [{ type: 'text', text }] })))
    t.false(holdsPiece(await resultText({ content: [], structuredContent: { text: text.slice(9) } })))
    t.false(
      holdsPiece(await contentsText({ contents: [{ uri: 'a:b', text: text.slice('[The resource a:b:]\n'.length) }] })),
    )
  }
})

test('secrets-25: what a schema says is shown without secrets in disguise, and one in a name leaves its tool out', (t) => {
  const written = cutCanary.replace('9', '\\u0039')
  const schema = (name: string): Json => ({
    type: 'object',
    description: `It takes ${written}.`,
    properties: { [name]: { type: 'string' } },
  })
  t.like(shownSchema(schema('plain'), redactCanary), { description: 'It takes [redacted].' })
  t.is(shownSchema(schema(written), redactCanary), undefined)
})

import test from 'ava'
import { createSaid } from '../../../../../plugins/tools/mcp/connection/said.js'
import { shownReason } from '../../../../../plugins/tools/mcp/connection/failure.js'
import { visibleLine } from '../../../../../core/plugin.js'
import { across, holdsPiece, redactCanary } from '../../../../support/canaries.js'
import { guarding } from '../../../../support/guarding.js'

const base64Lines = (text: string): string[] =>
  Buffer.from(text)
    .toString('base64')
    .match(/.{1,76}/gu) ?? []
const keyOfLines = ['-----BEGIN KEY-----', ...base64Lines('a made-up key, '.repeat(12)), '-----END KEY-----'].join('\n')

test('secrets-25: a secret across the cut of what a server writes, or of why it failed, is redacted', (t) => {
  for (const text of across(500)) {
    const logged: string[] = []
    const tell = (_: string, details: object = {}): void => void logged.push(JSON.stringify(details))
    const log = { debug: tell, info: tell, warn: tell, error: tell, flush: () => Promise.resolve() }
    const said = createSaid({ log, redact: redactCanary }, 'one')
    said.hear(text)
    t.is(logged.length, 1)
    t.false([said.last(), shownReason(text, redactCanary), ...logged].some(holdsPiece))
  }
})

test('mcp-38: what looks like a secret is left out of what a server writes, and of why it failed', (t) => {
  const logged: string[] = []
  const tell = (_: string, details: object = {}): void => void logged.push(JSON.stringify(details))
  const log = { debug: tell, info: tell, warn: tell, error: tell, flush: () => Promise.resolve() }
  const said = createSaid({ log, redact: (text) => text }, 'one')
  const text = 'refused: token ghp_abcdefghijklmnop1234 has no rights'
  said.hear(text)
  const shown = [said.last(), shownReason(text, (same) => same), ...logged]
  t.is(shown.length, 3)
  for (const one of shown) {
    t.true(one.includes('has no rights'))
    t.false(one.includes('abcdefghijklmnop'))
  }
})

test('mcp-38, secrets-21: of a secret of several lines that a server writes no line is logged or told', (t) => {
  const logged: string[] = []
  const tell = (_: string, details: object = {}): void => void logged.push(JSON.stringify(details))
  const log = { debug: tell, info: tell, warn: tell, error: tell, flush: () => Promise.resolve() }
  const { redact } = guarding(keyOfLines)
  const said = createSaid({ log, redact }, 'one')
  for (const line of [...keyOfLines.split('\n'), ...base64Lines(keyOfLines)]) said.hear(line)
  const pieces = [keyOfLines, base64Lines(keyOfLines).join('\n')].flatMap((text) => text.match(/[A-Za-z0-9+/]{12,}/gu))
  t.deepEqual(
    pieces.filter((piece) => piece !== null && [said.last(), ...logged].some((text) => text.includes(piece))),
    [],
  )
})

test('secrets-25: a sign that a backspace takes away hides no secret in why a server failed', (t) => {
  const { redact } = guarding('Rdy-9xPlum_77Kettle')
  for (const amid of ['z\b', 'z\u001b[1m\b', '\u001b(B'])
    t.is(shownReason(visibleLine(`refused: Rdy-9x${amid}Plum_77Kettle, sorry`), redact), 'refused: [redacted], sorry')
})

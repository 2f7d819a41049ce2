import test from 'ava'
import type { JsonObject } from '../../../../core/base/schema.js'
import { visibleLine } from '../../../../core/base/text/visible.js'
import { createCapture } from '../../../../core/processes/capture.js'
import { complaintIn, reasonIn } from '../../../../plugins/operator/hooks/command/command-hook.js'
import { blockOf, rulingOf, shownRuling } from '../../../../plugins/operator/hooks/outcome/outcome.js'
import { saidOutcome } from '../../../../plugins/operator/hooks/outcome/said-outcome.js'
import { across, holdsPiece, redactCanary } from '../../../support/canaries.js'

test('secrets-25: a secret across the end of a reason is redacted', (t) => {
  for (const reason of across(4_000)) {
    const answered = rulingOf('guard', { decision: 'block', reason })
    const ruling = 'fault' in answered ? undefined : answered.ruling
    for (const one of [blockOf('guard', reason), ruling ?? { by: [] }]) {
      const { block = '', reason: why = '' } = shownRuling(one, redactCanary)
      t.is(block.length, 4_000)
      t.false(holdsPiece(block + why))
    }
  }
})

test('secrets-25: a secret across the end of a text that is added is redacted', (t) => {
  for (const text of across(32_000)) {
    const answered = rulingOf('guard', { additional_contexts: ['kind', text] })
    const [first, second = ''] = ('ruling' in answered && answered.ruling?.contexts) || []
    const shown = shownRuling({ by: [], contexts: [first ?? '', second] }, redactCanary).contexts ?? []
    t.is(shown[0], 'kind')
    t.is(shown[1]?.length, 32_000)
    t.false(holdsPiece(shown[1] ?? ''))
  }
})

test('secrets-25: of output that nobody could read whole no half of a secret is left', (t) => {
  for (const text of across(512)) {
    const [cut, whole] = [createCapture(1024), createCapture(1024 * 1024)]
    for (const capture of [cut, whole]) capture.add(Buffer.from(text + text))
    t.true(cut.read().truncated)
    t.false(holdsPiece(reasonIn(cut.read())))
    t.is(reasonIn(whole.read()), text + text)
  }
})

test('secrets-25: of a standard error that is told no half of a secret is left', (t) => {
  for (const text of [...across(300), ...across(512)]) {
    const [cut, whole] = [createCapture(1024), createCapture(64 * 1024)]
    for (const capture of [cut, whole]) capture.add(Buffer.from(`${text}${text}\nover`))
    t.true(cut.read().truncated)
    t.is(complaintIn(cut.read(), redactCanary), 'over')
    whole.add(Buffer.from(`\n${text}`))
    t.false(holdsPiece(complaintIn(whole.read(), redactCanary)))
    t.is(complaintIn(whole.read(), redactCanary).length, 300)
  }
})

test('hooks-29: a whole outcome with nothing in it is taken, and what nothing here does is told where it is asked for', (t) => {
  const whole = {
    matched_hooks: [],
    continue_execution: true,
    updated_permissions: [],
    additional_contexts: [],
    initial_user_message: null,
    watch_paths: [],
    retry: false,
  }
  t.deepEqual(rulingOf('guard', whole), { ruling: undefined, permissions: [], strange: [] })
  const asked = { ...whole, matched_hooks: ['guard'], initial_user_message: 'hi', watch_paths: ['/x'], retry: true }
  t.like(rulingOf('guard', asked), { strange: ['initial_user_message', 'watch_paths', 'retry'] })
})

test('hooks-37: of what a command puts out, JSON that was meant as an outcome is one or a fault; other text is none', (t) => {
  const whole = 'its outcome is JSON, and no object'
  const beside = 'other text stands beside its outcome: it must put out the JSON alone'
  const block = '{"decision":"block","reason":"no"}'
  const shown = JSON.stringify(JSON.parse(block), null, 2)
  const faults: Readonly<Record<string, string>> = {
    [`[${block}]`]: whole,
    '[]': whole,
    '"block"': whole,
    '{"decision"': 'its outcome is no JSON',
    [`hello\n${block}`]: beside,
    [`hello ${block}`]: beside,
    [`${block}\nbye`]: 'its outcome is no JSON',
    [`hello\n${block}\nbye {}`]: beside,
    [`hello\n${shown}\nbye`]: beside,
    [`hello {}\n${shown}`]: beside,
    [`[INFO] asked\n{"hookSpecificOutput":{"permissionDecision":"deny"}}`]: beside,
    'got {"level":"info"} {"Decision":"block"}': beside,
    'got {x} {"permissionDecision":"deny"}': beside,
    'got {"ok": false}': beside,
    "got {'continue': False}": beside,
    'got {"hook_specific_output":{}}': beside,
    [String.raw`got {"\u0064ecision":"block"}`]: beside,
    'got {"result":{"decision":"block"': beside,
    '{"decision":"block","decision":"approve"}': 'its outcome has decision twice',
    [String.raw`{"a":{"b":[{"c":1,"\u0063":2}]}}`]: 'its outcome has a.b.0.c twice',
    [Buffer.from(`\ufeff${block}`, 'utf16le').toString()]: 'what it put out is not UTF-8 text',
  }
  const read = (said: string) => saidOutcome('guard', said, (text) => text)
  for (const [said, fault] of Object.entries(faults))
    t.deepEqual(read(said), { fault: `${fault}: ${visibleLine(said)}` }, said)
  for (const said of [
    '',
    'hello',
    '3',
    'true',
    'false',
    'null',
    '[INFO] asked',
    'a {b} c',
    'got {"level":"info"}',
    'x } {',
    'got {"ok":true}',
    'the "decision": none',
    String.raw`wrote {"content":"{\"decision\":\"block\"}"}`,
    '\u001b[32mgot\u001b[0m {"level":"info"}',
  ])
    t.deepEqual(read(said), { ruling: undefined }, said)
  t.like(read(shown), { ruling: { block: 'no' } })
  t.like(read(`\u001b[1;39m{\u001b[0m\u001b[34;1m"decision"\u001b[0m:"block","reason":"no"}\n`), {
    ruling: { block: 'no' },
  })
})

test('hooks-14: of members that say a thing in two ways the strictest counts', (t) => {
  const ruled = (given: JsonObject) => {
    const answered = rulingOf('guard', given)
    return 'fault' in answered ? answered.fault : answered.ruling
  }
  t.like(ruled({ continue_execution: true, continue: false }), { block: 'it gave no reason' })
  t.like(ruled({ continue_execution: false, continue: true }), { block: 'it gave no reason' })
  t.like(ruled({ permission: 'allow', hookSpecificOutput: { permissionDecision: 'deny' } }), { permission: 'deny' })
  t.like(ruled({ decision: 'approve', permission: 'ask' }), { permission: 'ask' })
})

import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { openSession } from '../../../../support/runs.js'
import { done, fails, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'
import { createSpeechText } from '../../../../../plugins/execution/runs/terminal/speech-text.js'

const hostile = 'Hi\u001b]52;c;cm0gLXJm\u0007\nrun_1  completed'

/** A model that fails once and then speaks for a while. */
const start = async (t: ExecutionContext): Promise<TestDaemon> => {
  const model = scriptedProvider(async function* (_, count) {
    if (count % 2 === 1) {
      yield { type: 'text_delta', text: 'Wrong' }
      return yield fails(true)
    }
    yield { type: 'reasoning_delta', text: 'Hm.' }
    yield { type: 'text_delta', text: hostile }
    await new Promise((resolve) => setTimeout(resolve, 60))
    yield { type: 'text_delta', text: ' and more' }
    yield text('Said.')
    yield done()
  })
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1 } },
  })
  await openSession(daemon)
  return daemon
}

test('events-28: on a terminal a run that is followed shows what its model says, under a heading for each attempt', async (t) => {
  const daemon = await start(t)
  const { code, out } = await createCommandLine(daemon, undefined, true)('runs', 'submit', 's1', 'Hello', '--watch')
  t.is(code, 0)
  const says = '\n  says     Wrong\n'
  const anew = '\n  anew     Hi\\u001b]52;c;cm0gLXJm\\u0007\n           run_1  completed and more\n'
  t.true(out.includes(says) && out.includes(anew), out)
  t.true(out.indexOf(says) < out.indexOf(anew) && out.indexOf(anew) < out.indexOf('output   Said.'))
  t.false(out.includes('Hm.'))
})

test('events-28: elsewhere it is shown to who asks with --deltas, and nothing else changes', async (t) => {
  const daemon = await start(t)
  const run = createCommandLine(daemon)
  const plain = await run('runs', 'submit', 's1', 'Hello', '--watch')
  t.notRegex(plain.out, /says|anew|Wrong/u)
  const asked = await run('runs', 'submit', 's1', 'Hello', '--watch', '--deltas')
  t.regex(asked.out, / {2}says {5}Wrong\n/u)
  const json = await run('runs', 'submit', 's1', 'Hello', '--watch', '--output', 'json')
  t.notRegex(json.out, /_delta/u)
  const [{ run_id }] = (await daemon.request('GET', '/v1/runs')).body
  t.is((await run('runs', 'retry', run_id, '--deltas')).code, 1, 'it has completed')
  const deltas = await run('runs', 'submit', 's1', 'Hello', '--watch', '--output', 'json', '--deltas')
  const frames = deltas.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.true(frames.some(({ data }) => data.trace?.kind.type === 'model_reasoning_delta'))
  t.is(
    frames.flatMap(({ data }) => (data.trace?.kind.type === 'model_text_delta' ? [data.trace.kind.text] : [])).join(''),
    `Wrong${hostile} and more`,
  )
})

test('what was left out of a text is told where it stood', (t) => {
  let out = ''
  const speech = createSpeechText(
    (more) => {
      out += more
    },
    () => Infinity,
  )
  const show = (kind: object): boolean => speech.show('trace', { trace: { kind: { ...kind } } })
  t.true(show({ type: 'model_deltas_dropped', count: 2, chars: 9 }))
  t.true(show({ type: 'model_text_delta', turn: 2, attempt: 1, text: 'on\nand' }))
  t.true(show({ type: 'model_deltas_dropped', count: 3, chars: 9 }))
  t.true(show({ type: 'model_text_delta', turn: 2, attempt: 1, text: ' on' }))
  t.false(show({ type: 'model_attempt_finished', turn: 2, attempt: 1 }))
  t.false(speech.show('run_updated', {}))
  speech.end()
  speech.end()
  t.is(out, '  says     [… 2 pieces are not shown …] on\n           and[… 3 pieces are not shown …] on\n')
})

/** Answers that are not whole: what a run, its steps and those who read them on a terminal are told. */
import test, { type ExecutionContext } from 'ava'
import { parse } from '../../../../core/plugin.js'
import { endText } from '../../../../plugins/execution/runs/chat/run-end.js'
import { showEvents } from '../../../../plugins/execution/runs/terminal/event-text.js'
import { RunAnswer, showRun } from '../../../../plugins/execution/runs/terminal/run-text.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'

/** The run whose model gives these answers, its `model_answered` steps, and both as a terminal shows them. */
const ranWith = async (t: ExecutionContext, ...answers: ModelEvent[][]) => {
  const model = scriptedProvider((_, count) => answers[count - 1] ?? [])
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed', 'failed')
  const { body } = await daemon.request('GET', `/v1/runs/${run.run_id}/events?steps=true`)
  const row = parse(RunAnswer, run)
  return {
    run,
    ended: body.flatMap(({ event }: any) => (event.type === 'model_answered' ? [event.ended ?? 'whole'] : [])),
    shown: row.ok ? showRun(row.value) : '',
    chat: row.ok ? endText(row.value) : '',
    events: showEvents(body),
  }
}

test('runs-57: an answer that was cut at the limit of its length says so in its run and its steps', async (t) => {
  const { run, ended, shown, chat, events } = await ranWith(t, [text('Once upon a'), done('length')])
  t.deepEqual([run.status, run.outputs[0].content, run.answer_ended], ['completed', 'Once upon a', 'cut'])
  t.deepEqual(ended, ['cut'])
  t.regex(shown, /^ {2}cut {6}the answer was cut at the limit of its length$/mu)
  t.is(chat, '(the answer was cut at the limit of its length)')
  t.regex(events, /model_answered {2}the answer was cut at the limit of its length$/mu)
})

test('runs-57: an answer with neither text nor a call completes its run, and both say that it was empty', async (t) => {
  const thought: ModelEvent = { type: 'part', part: { type: 'reasoning', text: 'Hm.' } }
  for (const answer of [[done()], [text(' \n'), done()], [thought, done()]]) {
    const { run, ended, shown, chat, events } = await ranWith(t, answer)
    t.deepEqual([run.status, run.outputs, run.answer_ended, ended], ['completed', undefined, 'empty', ['empty']])
    t.regex(shown, /output {3}none: the last answer of the model was empty/u)
    t.is(chat, '(the last answer of the model was empty)')
    t.regex(events, /model_answered {2}empty$/mu)
  }
})

test('runs-57: an answer that ended for a reason that nobody knows says so in its run and its steps', async (t) => {
  const { run, ended, shown, chat, events } = await ranWith(t, [text('Once upon a'), done('other')])
  t.deepEqual([run.status, run.outputs[0].content, run.answer_ended], ['completed', 'Once upon a', 'unexplained'])
  t.deepEqual(ended, ['unexplained'])
  const said = 'the answer ended for a reason that nobody knows and may not be whole'
  t.true(shown.includes(`\n  ended    ${said}`))
  t.is(chat, `(${said})`)
  t.true(events.includes(`model_answered  ${said}`))
  const silent = await ranWith(t, [done('other')])
  t.is(silent.run.answer_ended, 'empty')
})

test('runs-57: of a run whose last answer is whole only the step of the one that was cut says so', async (t) => {
  const { run, ended, shown, events } = await ranWith(
    t,
    [text('I look.'), callTool('c1', 'read_file', { path: 'x' }), done('length')],
    [text('So.'), done()],
  )
  t.deepEqual([run.status, run.answer_ended, ended], ['completed', undefined, ['cut', 'whole']])
  t.notRegex(shown, /was cut/u)
  t.regex(events, /model_answered {2}the answer was cut at the limit of its length, calls read_file$/mu)
})

import test from 'ava'
import { showEvents } from '../../../../../plugins/execution/runs/terminal/event-text.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { createWorld, effectTools } from '../../../../support/effects.js'
import { eventTypes, openSession, submit, until } from '../../../../support/runs.js'
import { callTool, done, fails, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'

test('runs-21: the events of a run show its model attempts and tool calls to those who ask for steps', async (t) => {
  const model = scriptedProvider((_, count) => {
    if (count === 1) return [fails(true)]
    return count === 2 ? [callTool('c1', 'peek', { what: 'a' }), done('tool_calls')] : [text('end'), done()]
  })
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(createWorld()), model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1 } },
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'x')
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
  t.deepEqual(
    body.map(({ event }: any) => event.type),
    [
      'accepted',
      'queued',
      'started',
      'model_attempt_failed',
      'model_answered',
      'tool_ended',
      'model_answered',
      'output',
      'completed',
    ],
  )
  t.like(body[3].event, { attempt: 1, code: 'overloaded', message: 'It is busy.' })
  t.deepEqual(body[4].event, { type: 'model_answered', tool_names: ['peek'] })
  t.deepEqual(body[5].event, { type: 'tool_ended', tool_name: 'peek', tool_call_id: 'c1', outcome: 'done' })
  const shown = showEvents(body)
  t.regex(shown, /model_attempt_failed {2}attempt 1, overloaded: It is busy\./u)
  t.regex(shown, /model_answered {2}calls peek\n.*tool_ended {2}peek: done/u)
  t.deepEqual(await eventTypes(daemon, run_id), ['accepted', 'queued', 'started', 'output', 'completed'])
})

test('runs-21: a call whose input does not fit is shown with what does not, and where', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { run_id } = await submit(
    daemon,
    's1',
    '/tool board_draw {"board_id":"b","elements":[{"kind":"rect","x":1,"y":1,"w":1}]}',
  )
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
  t.regex(showEvents(body), /board_draw: failed: call_input_invalid: .*elements\.0\.h is required\.\n/u)
})

test('a call that failed is shown with its reason', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool read_file {"path":"../outside.txt"}')
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
  const ended = body.find(({ event }: any) => event.type === 'tool_ended').event
  t.like(ended, {
    tool_name: 'read_file',
    outcome: 'failed',
    code: 'path_outside_workspace',
    message: 'The path is not inside the workspace.',
  })
  t.regex(
    showEvents(body),
    /tool_ended {2}read_file: failed: path_outside_workspace: The path is not inside the workspace\.\n/u,
  )
})

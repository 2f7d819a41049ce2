/** Who follows a run or a flow is told what agents of it ask people. */
import test, { type ExecutionContext } from 'ava'
import { call } from '../../../../support/agents.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { publish, startFlow } from '../../../../support/flows.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const start = async (t: ExecutionContext) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const line = createCommandLine(daemon)
  /** What asks in the session of a child, by the time that who follows has looked twice. */
  const asking = async (kind: 'approvals' | 'questions'): Promise<any> => {
    for (;;) {
      const [found] = (await daemon.request('GET', `/v1/${kind}`)).body
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const seen = () => new Promise((resolve) => setTimeout(resolve, 4_500))
  return Object.assign(daemon, { line, asking, seen })
}

const waits = (prompt: string): string => `${call('spawn_agent', { name: 'w', prompt, wait: true })}\n/say over`
const inBackground = (prompt: string): string => `${call('spawn_agent', { name: 'w', prompt })}\n/sleep 8000\n/say over`

test('command-line-23: runs watch tells what an agent asks that its run waits for, with the lines that settle it', async (t) => {
  const { line, asking, seen, ...daemon } = await start(t)
  const content = waits('/ask Which bed? | north | south')
  const { run_id } = await submit(daemon, 's1', content)
  const watched = line('runs', 'watch', run_id)
  const { run_id: asker } = await asking('questions')
  await seen()
  await line('questions', 'answer', '--option', '1', asker)
  const { out, code } = await watched
  t.is(code, 0)
  const told = out.match(new RegExp(`An agent of it, in the run ${asker}: It waits for an answer.`, 'gu')) ?? []
  t.is(told.length, 1, out)
  t.regex(out, new RegExp(`Which bed\\?[^]*holdfast questions answer --option 1 ${asker}\\n`, 'u'))
})

test('command-line-23: flows stream tells also of agents that nobody waits for, and json is what the stream says', async (t) => {
  const { line, asking, seen, ...daemon } = await start(t)
  const playbook_ref = await publish(daemon)
  const content = inBackground(call('bash', { command: 'true' }))
  const { flow_id, run_id } = (await startFlow(daemon, { playbook_ref, content })).body
  const streams = [line('flows', 'stream', flow_id), line('flows', 'stream', flow_id, '--output', 'json')]
  const { run_id: asker, request } = await asking('approvals')
  await seen()
  await until(daemon, run_id, 'completed')
  const [pretty, json] = await Promise.all(streams)
  t.regex(
    pretty?.out ?? '',
    new RegExp(`An agent of it, in the run ${asker}: [^]*holdfast approvals allow ${asker}`, 'u'),
  )
  t.regex(pretty?.out ?? '', /use bash/u)
  t.notRegex(json?.out ?? '', /An agent of it/u)
  t.is(typeof request.id, 'string')
})

test('command-line-23: what the run itself asks is told by its stream alone', async (t) => {
  const { line, asking, ...daemon } = await start(t)
  const { run_id } = await submit(daemon, 's1', '/ask Which bed? | north | south')
  await asking('questions')
  t.notRegex((await line('runs', 'watch', run_id)).out, /An agent of it/u)
})

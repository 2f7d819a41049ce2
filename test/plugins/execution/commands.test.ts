import test from 'ava'
import { spawnDaemon, spawnMain } from '../../support/daemon.js'

test('the commands show what waits and the command that answers it', async (t) => {
  const daemon = await spawnDaemon({ env: {} })
  t.teardown(() => daemon.stop())
  const run = async (...args: string[]): Promise<string> => {
    const started = spawnMain([...args, '--base-url', daemon.url])
    const { code } = await started.exited
    t.is(code, 0, started.text.err)
    return started.text.out
  }
  t.regex(await run('sessions', 'list'), /holdfast sessions create/u)
  t.regex(await run('sessions', 'create', 's1'), /s1 {2}idle/u)
  t.regex(await run('runs', 'submit', 's1', 'Hello', '--watch'), /output {3}You said: Hello/u)
  const asking = await run('runs', 'submit', 's1', '/ask Tea or coffee? | Tea | Coffee', '--output', 'json')
  const { run_id } = JSON.parse(asking)
  t.regex(await run('questions', 'list'), new RegExp(`holdfast questions answer ${run_id} "Tea"`, 'u'))
  t.regex(await run('questions', 'answer', run_id, 'coffee'), new RegExp(run_id, 'u'))
  t.regex(await run('runs', 'watch', run_id), /completed/u)
  t.regex(await run('runs', 'events', run_id), /user_question_resolved[\s\S]*completed/u)
  t.regex(await run('approvals', 'list'), /Nothing waits/u)
  t.regex(await run('runs', 'list'), /completed/u)
  t.regex(await run('schedules', 'list'), /holdfast schedules create/u)
  const schedule = JSON.parse(await run('schedules', 'create', 's1', 'Report', '--cron', '30 2 * * *', '--timezone', 'Europe/Berlin', '--output', 'json')).schedule_id
  t.regex(await run('schedules', 'preview', schedule, '--count', '2'), /^\S+Z {2}\S+T0[23]:[03]0:00\+0[12]:00/u)
  for (const [action, shown] of [['pause', /paused/u], ['resume', /active/u], ['trigger', /claimed|dispatched/u], ['cancel', /canceled/u]] as const) t.regex(await run('schedules', action, schedule), shown)
  t.regex(await run('schedules', 'get', schedule), /30 2 \* \* \* in Europe\/Berlin/u)
  t.regex(await run('sessions', 'get', 's1'), /holdfast runs submit s1/u)
  t.regex(await run('sessions', 'events', 's1'), /accepted/u)
  t.regex(await run('sessions', 'interrupt', 's1'), /nothing to interrupt/u)
  t.regex(await run('sessions', 'end', 's1', '--reason', 'done'), /s1 {2}ended[\s\S]*open it again: holdfast sessions create s1/u)
  t.regex(await run('runs', '--help'), /runs watch <run_id>[\s\S]*--base-url/u)
})

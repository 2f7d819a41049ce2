import test, { type ExecutionContext } from 'ava'
import { spawnDaemon, spawnMain } from '../../support/daemon.js'

/** The command line of a daemon: what a command that succeeds prints. */
const startCommandLine = async (t: ExecutionContext) => {
  const daemon = await spawnDaemon({ env: {} })
  t.teardown(() => daemon.stop())
  const run = async (...args: string[]): Promise<string> => {
    const started = spawnMain([...args, '--base-url', daemon.url])
    const { code } = await started.exited
    t.is(code, 0, started.text.err)
    return started.text.out
  }
  return run
}

test('the commands show what waits and the command that answers it', async (t) => {
  const run = await startCommandLine(t)
  t.regex(await run('sessions', 'list'), /holdfast sessions create/u)
  t.regex(await run('sessions', 'create', 's1'), /s1 {2}idle/u)
  t.regex(await run('runs', 'submit', 's1', 'Hello', '--watch'), /output {3}You said: Hello/u)
  const named = [
    'runs',
    'submit',
    's1',
    'Hi',
    '--provider',
    'demo',
    '--model',
    'small',
    '--reply-to',
    'https://receiver.invalid/hook',
    '--idempotency-key',
    'k1',
    '--output',
    'json',
  ]
  const first = JSON.parse(await run(...named))
  t.deepEqual([first.request.provider, first.request.model], ['demo', 'small'])
  t.is(JSON.parse(await run(...named)).run_id, first.run_id)
  await run('runs', 'watch', first.run_id)
  t.is(JSON.parse(await run('runs', 'get', first.run_id, '--output', 'json')).deliveries.length, 1)
  const asking = await run('runs', 'submit', 's1', '/ask Tea or coffee? | Tea | Coffee', '--output', 'json')
  const { run_id } = JSON.parse(asking)
  t.regex(await run('questions', 'list'), new RegExp(`holdfast questions answer ${run_id} "Tea"`, 'u'))
  t.regex(await run('questions', 'answer', run_id, 'coffee'), new RegExp(run_id, 'u'))
  t.regex(await run('runs', 'watch', run_id), /completed/u)
  t.regex(await run('runs', 'events', run_id), /user_question_resolved[\s\S]*completed/u)
  t.regex(await run('approvals', 'list'), /Nothing waits/u)
  const writing = JSON.parse(
    await run('runs', 'submit', 's1', '/tool write_file {"path":"a.txt","content":"hello"}', '--output', 'json'),
  )
  await run('sessions', 'create', 's2')
  const choosing = JSON.parse(
    await run(
      'runs',
      'submit',
      's2',
      '/tool ask_user_question ' +
        '{"questions":[{"question":"Left?","options":[{"label":"Yes"},{"label":"No"}]}],"expires_after_ms":7200000}',
      '--output',
      'json',
    ),
  )
  for (const args of [['approvals'], ['approvals', 'list']]) {
    const inbox = await run(...args)
    t.regex(
      inbox,
      new RegExp(
        `approval {2}write_file \\{"content":"hello","path":"a.txt"\\}|approval {2}write_file ` +
          `\\{"path":"a.txt","content":"hello"\\}`,
        'u',
      ),
    )
    t.regex(
      inbox,
      new RegExp(
        `session s1, run ${writing.run_id}, waits for \\d+ (?:s|min)\n {2}holdfast approvals allow ` +
          `${writing.run_id} approval_\\S+\n {2}holdfast approvals deny`,
        'u',
      ),
    )
    t.regex(
      inbox,
      new RegExp(
        `question {2}ask_user_question \\[\\{"question":"Left\\?","options":\\["Yes","No"\\]\\}\\]\n ` +
          `{2}session s2, run ${choosing.run_id}, waits for \\d+ (?:s|min), expires in 1 h\n {2}holdfast ` +
          `questions answer ${choosing.run_id} "Yes"\n {2}holdfast questions decline ${choosing.run_id}`,
        'u',
      ),
    )
  }
  const rows = JSON.parse(await run('approvals', '--output', 'json'))
  t.like(rows, [
    { type: 'approval', session_id: 's1', tool_name: 'write_file' },
    { type: 'question', session_id: 's2', run_id: choosing.run_id },
  ])
  t.like(JSON.parse(await run('approvals', '--session-id', 's2', '--output', 'json')), [{ type: 'question' }])
  await run(...rows[0].commands[1].split(' ').slice(1), '--reason', 'not now')
  t.regex(await run('runs', 'watch', writing.run_id), /completed/u)
  t.regex(await run('questions', 'decline', choosing.run_id), new RegExp(choosing.run_id, 'u'))
  t.regex(await run('runs', 'watch', choosing.run_id), /completed/u)
  t.regex(await run('runs', 'list'), /completed/u)
  t.regex(await run('schedules', 'list'), /holdfast schedules create/u)
  const schedule = JSON.parse(
    await run(
      'schedules',
      'create',
      's1',
      'Report',
      '--cron',
      '30 2 * * *',
      '--timezone',
      'Europe/Berlin',
      '--output',
      'json',
    ),
  ).schedule_id
  t.regex(await run('schedules', 'preview', schedule, '--count', '2'), /^\S+Z {2}\S+T0[23]:[03]0:00\+0[12]:00/u)
  for (const [action, shown] of [
    ['pause', /paused/u],
    ['resume', /active/u],
    ['trigger', /claimed|dispatched/u],
    ['cancel', /canceled/u],
  ] as const)
    t.regex(await run('schedules', action, schedule), shown)
  t.regex(await run('schedules', 'get', schedule), /30 2 \* \* \* in Europe\/Berlin/u)
  t.regex(await run('sessions', 'get', 's1'), /holdfast runs submit s1/u)
  t.regex(await run('sessions', 'events', 's1'), /accepted/u)
  t.regex(await run('sessions', 'interrupt', 's1'), /nothing to interrupt/u)
  t.regex(
    await run('sessions', 'end', 's1', '--reason', 'done'),
    /s1 {2}ended[\s\S]*open it again: holdfast sessions create s1/u,
  )
  t.regex(await run('runs', '--help'), /runs watch <run_id>[\s\S]*--base-url/u)
})

test('schedules create refuses flags that do not go together, and makes nothing', async (t) => {
  const daemon = await spawnDaemon({ env: {} })
  t.teardown(() => daemon.stop())
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  const refusal = async (...flags: string[]): Promise<string> => {
    const started = spawnMain(['schedules', 'create', 's1', 'Report', ...flags, '--base-url', daemon.url])
    t.deepEqual(await started.exited, { code: 1, signal: null }, started.text.err)
    return started.text.err
  }
  t.regex(
    await refusal('--every', '60', '--at', '2099-01-01T00:00:00Z'),
    /body\.cadence\.fire_at_ms is not a known field/u,
  )
  t.regex(await refusal('--cron', '0 3 * * *', '--every', '60'), /body\.cadence\.every_seconds is not a known field/u)
  t.regex(
    await refusal('--every', '60', '--timezone', 'Europe/Berlin'),
    /body\.cadence\.timezone is not a known field/u,
  )
  t.regex(await refusal(), /body\.cadence\.fire_at_ms is required/u)
  t.deepEqual((await daemon.request('GET', '/v1/schedules')).body, [])
})

test('the commands of sessions set what is set by hand, and those of personas make one', async (t) => {
  const run = await startCommandLine(t)
  t.regex(
    await run('personas', 'create', 'Reviewer', '--id', 'rev', '--soul', 'You read code.'),
    /"persona_id": "rev"/u,
  )
  t.regex(await run('personas', 'list', '--query', 'view'), /rev {2}Reviewer {2}version 1/u)
  t.regex(await run('sessions', 'create', 's1', '--persona', 'rev'), /as {5}Reviewer, version 1/u)
  t.regex(await run('sessions', 'set-policy', 's1', '--provider', 'demo', '--model', 'm'), /route {2}demo m/u)
  t.regex(await run('sessions', 'reply-targets', 's1', 'https://example.com/x'), /http {2}https:/u)
  t.regex(await run('sessions', 'reply-targets', 's1', '--clear'), /to nobody/u)
  await run('sessions', 'end', 's1')
  t.regex(await run('sessions', 'list'), /s1 {2}ended/u)
})

import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../support/command-line.js'
import { startTestDaemon } from '../../support/daemon.js'
import { openSession, submit, until } from '../../support/runs.js'

/** The command line of a daemon: what a command that succeeds prints. */
const startCommandLine = async (t: ExecutionContext) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  return async (...args: string[]): Promise<string> => {
    const { code, out, err } = await line(...args)
    t.is(code, 0, err)
    return out
  }
}

test('a refusal for the state of a thing says how to see it', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const session_id = await openSession(daemon)
  const { run_id } = await submit(daemon, session_id, 'Hello')
  await until(daemon, run_id, 'completed')
  t.regex((await line('runs', 'cancel', run_id)).err, new RegExp(`: holdfast runs get ${run_id}$`, 'mu'))
  const created = await line('schedules', 'create', session_id, 'x', '--every', '2h', '--output', 'json')
  const { schedule_id } = JSON.parse(created.out)
  await line('schedules', 'cancel', schedule_id)
  const { err } = await line('schedules', 'pause', schedule_id)
  t.regex(err, new RegExp(`: holdfast schedules get ${schedule_id}$`, 'mu'))
})

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
  t.regex(
    await run('questions', 'list'),
    new RegExp(`1 {8}Tea\\n {2}2 {8}Coffee\\n {2}answer {3}holdfast questions answer --option 1 ${run_id}\\n`, 'u'),
  )
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
        `^approval (approval_\\S+), session s1, run ${writing.run_id}, waits for \\d+ (?:s|min)\n {2}asks {5}to use ` +
          `write_file: .+\n {2}input {4}\\{\n {13}"path": "a.txt",\n {13}"content": "hello"\n {11}\\}\n {2}digest {3}` +
          `sha256 [0-9a-f]{64}\n {2}allows {3}this input, once; the next call of write_file asks again\n {2}allow {4}` +
          `holdfast approvals allow ${writing.run_id} \\1\n {2}or {7}in this session from now on write_file for the ` +
          `path a.txt\n {2}always {3}holdfast approvals allow --always ${writing.run_id} \\1\n {2}deny {5}holdfast ` +
          'approvals deny',
        'u',
      ),
    )
    t.regex(
      inbox,
      new RegExp(
        `question question_\\S+, session s2, run ${choosing.run_id}, waits for \\d+ (?:s|min), expires in 1 h\n ` +
          `{2}asks {5}Left\\?\n {2}1 {8}Yes\n {2}2 {8}No\n {2}answer {3}holdfast questions answer --option 1 ` +
          `${choosing.run_id}\n {2}or {7}holdfast questions answer ${choosing.run_id} TEXT\n {2}decline {2}holdfast ` +
          `questions decline ${choosing.run_id}`,
        'u',
      ),
    )
  }
  t.regex(await run('sessions', 'list'), /^s1 {2}\S+ {2}waits for 1 approval\ns2 {2}\S+ {2}waits for 1 question$/mu)
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
  t.regex(await run('schedules', 'create', 's1', 'Look', '--every', '2h'), / {2}\(every 2 h\) {2}/u)
  t.regex(
    await run('schedules', 'create', 's1', `${' '.repeat(70)}Tidy`, '--at', '2099-01-01'),
    / {2}active {2}Tidy {2}/u,
  )
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
    ['cancel', /cancelled/u],
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

test('a run that waits shows the whole input beside the line that allows it, wherever it is shown', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  await openSession(daemon, 's1')
  const command = `echo ${'x'.repeat(5000)}${' '.repeat(300)}; rm -rf /important`
  const asking = `/tool bash ${JSON.stringify({ command })}`
  const watched = await run('runs', 'submit', 's1', asking, '--watch')
  t.is(watched.code, 3, 'it waits for a person')
  const [{ run_id, request }] = (await daemon.request('GET', '/v1/approvals')).body
  const line = `holdfast approvals allow ${run_id} ${request.id}`
  const shown = [watched, await run('runs', 'get', run_id), await run('runs', 'watch', run_id), await run('approvals')]
  for (const { out } of shown) {
    t.true(out.includes(`"command": ${JSON.stringify(command)}`))
    t.true(out.includes(`sha256 ${request.input_digest}`))
    t.true(out.includes(line))
  }
  const denied = await run('approvals', 'deny', run_id, '--reason', 'no')
  t.true(denied.out.startsWith(`Denied ${request.id}\n`) && denied.out.includes(JSON.stringify(command)), denied.out)
})

test('who follows a run is told by the exit code how it ended', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  await openSession(daemon, 's1')
  const codeOf = async (...words: string[]): Promise<number> => (await run('runs', ...words)).code
  t.is(await codeOf('submit', 's1', 'Hello', '--watch'), 0)
  t.is(await codeOf('submit', 's1', '/fail fatal No.', '--watch'), 1)
  t.is(await codeOf('submit', 's1', '/ask Tea? | A | B', '--watch', '--output', 'json'), 3)
  const [{ run_id }] = (await daemon.request('GET', '/v1/questions')).body
  t.is(await codeOf('watch', run_id), 3)
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  t.is(await codeOf('watch', run_id), 1)
  const slow = await submit(daemon, 's1', '/sleep 60000')
  await until(daemon, slow.run_id, 'running')
  const interrupted = new AbortController()
  const watching = createCommandLine(daemon, interrupted.signal)('runs', 'watch', slow.run_id)
  interrupted.abort()
  t.is((await watching).code, 130)
  const followed = run('runs', 'watch', slow.run_id)
  await daemon.request('POST', '/v1/sessions/s1/interrupt')
  t.is((await followed).code, 130)
})

test('a refusal names the flags and words that were given, all that is wrong, and what to do', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  await openSession(daemon, 's1')
  const refusal = async (...words: string[]): Promise<string> => {
    const { code, err } = await run(...words)
    t.not(code, 0)
    return err
  }
  const create = (...flags: string[]): Promise<string> => refusal('schedules', 'create', 's1', 'Report', ...flags)
  t.regex(await create('--every', '60', '--at', '2099-01-01T00:00:00Z'), /--every does not go with --at/u)
  t.regex(await create('--cron', '0 3 * * *', '--every', '60'), /--every does not go with --cron/u)
  t.regex(await create('--every', '60', '--timezone', 'Europe/Berlin'), /--timezone does not go with --every/u)
  t.regex(await create(), /schedules create needs --at, --every or --cron \(flag_required\)/u)
  t.regex(await create('--every', 'often'), /--every must be a time such as 90, 90s, 5m, 2h or 1d, not "often"/u)
  t.regex(await create('--at', '25:00'), /--at must be/u)
  t.deepEqual((await daemon.request('GET', '/v1/schedules')).body, [])
  t.regex(await create('--every', '2'), /--every must be at least 5/u)
  const two = await create('--every', '2', '--overlap', 'never')
  t.regex(two, /--every must be at least 5/u)
  t.regex(two, /--overlap must be one of/u)
  t.notRegex(two, /body\.|`errors`/u)
  const cron = await create('--cron', 'x')
  t.regex(cron, /^holdfast: The schedule cannot be: --cron must have five fields, .*\(invalid_schedule\)\n$/u)
  t.regex(await refusal('runs', 'get', 'nosuch'), /\nList the runs with holdfast runs list\.\n$/u)
  t.regex(await refusal('runs', 'list', '--limit', 'many'), /--limit must be/u)
  t.regex(await refusal('runs', 'submit', 's1', 'x'.repeat(2_000_000)), /<text>|body/u)
  t.regex(await refusal('sessions', 'set-policy', 's1'), /sessions set-policy needs --provider, --model or --clear/u)
})

test('the commands of sessions set what is set by hand, and those of personas make one', async (t) => {
  const run = await startCommandLine(t)
  t.regex(
    await run('personas', 'create', 'Reviewer', '--id', 'rev', '--soul', 'You read code.'),
    /^rev {2}Reviewer {2}version 1\n$/u,
  )
  t.regex(await run('personas', 'list', '--query', 'view'), /rev {2}Reviewer {2}version 1/u)
  t.regex(await run('sessions', 'create', 's1', '--persona', 'rev'), /as {5}Reviewer, version 1/u)
  t.regex(await run('sessions', 'set-policy', 's1', '--provider', 'demo', '--model', 'm'), /route {2}demo m/u)
  t.regex(await run('sessions', 'reply-targets', 's1', 'https://example.com/x'), /http {2}https:/u)
  t.regex(await run('sessions', 'reply-targets', 's1', '--clear'), /to nobody/u)
  await run('sessions', 'end', 's1')
  t.regex(await run('sessions', 'list'), /s1 {2}ended/u)
})

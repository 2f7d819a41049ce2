import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { createCommandLine } from '../../../support/command-line.js'

test('learnings-26: candidates and learnings from the command line, from the first to the last', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const run = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await line('learnings', ...words)
    t.is(code, 0, `${words.join(' ')}: ${err}`)
    return out
  }
  const idIn = (out: string): string => /^(?:candidate|learning)_\w+/u.exec(out)?.[0] ?? out
  t.regex(await run('candidates', 'list'), /^No candidates yet\. Bring one: holdfast learnings candidates create/u)
  t.regex(await run('list'), /^Nothing is learned yet\./u)
  const created = await run('candidates', 'create', 'The harbour is deep.', '--kind', 'fact', '--confidence', '70')
  t.regex(created, / {2}pending {2}fact of workspace default {2}70% {2}The harbour is deep\.\n$/u)
  const candidate = idIn(created)
  const wish = ['--scope-kind', 'session', '--scope-id', 's1', '--session', 's1', '--run', 'r1']
  const more = ['--sensitivity', 'sensitive', '--expires-at-ms', '4000000000000']
  const other = idIn(await run('candidates', 'create', 'Ask first.', '--kind', 'procedure', ...wish, ...more))
  t.like(JSON.parse(await run('candidates', 'get', other, '--output', 'json')), {
    scope: { kind: 'session', id: 's1' },
    source: { session_id: 's1', run_id: 'r1' },
    sensitivity: 'sensitive',
    expires_at_ms: 4_000_000_000_000,
  })
  t.is(
    await run('candidates', 'list'),
    `${created}${(await run('candidates', 'list', '--kind', 'procedure')).trim()}\n`,
  )
  t.regex(await run('candidates', 'reject', other), / {2}rejected {2}/u)
  t.is(await run('candidates', 'list', '--state', 'pending'), created)
  t.is(await run('candidates', 'list', '--query', 'nowhere'), 'None of them is as the line asks.\n')
  const published = await run('candidates', 'publish', candidate, '--publish-tier', 'provisional', '--kind', 'decision')
  t.regex(published, / {2}provisional {2}decision of workspace default/u)
  const learning = idIn(published)
  t.is(
    await run('list', '--status', 'provisional', '--policy-actor', 'operator', '--scope-kind', 'workspace'),
    published,
  )
  const next = await run('supersede', learning, 'The harbour is shallow.', '--confidence', '90')
  t.regex(next, / {2}active {2}decision of workspace default {2}90% {2}The harbour is shallow\.\n$/u)
  t.like(JSON.parse(await run('get', learning, '--output', 'json')), {
    status: 'superseded',
    superseded_by: idIn(next),
  })
  const third = idIn(await run('candidates', 'create', 'Cranes are red.', '--kind', 'fact'))
  const replaced = await run('candidates', 'publish', third, 'The harbour is open.', '--supersedes', idIn(next))
  t.regex(replaced, / {2}The harbour is open\.\n$/u)
  t.regex(await run('revoke', idIn(replaced), '--reason', 'Not so.'), / {2}revoked {2}/u)
  t.regex(
    await run('revoke-matching', '--query', 'harbour', '--reason', 'Enough.'),
    /^2 learnings revoked\. .* until nothing fits\.$/mu,
  )
  t.regex(await run('revoke-matching', '--kind', 'fact'), /^Nothing fits/u)
  t.regex((await line('learnings', 'revoke-matching', '--reason', 'x')).err, /--query/u)
  const refused = await line('learnings', 'candidates', 'create', 'x', '--kind', 'fact', '--scope-kind', 'session')
  t.regex(refused.err, /--scope-id must be given/u)
  t.regex((await line('learnings', 'candidates', 'create', 'password: x', '--kind', 'fact')).err, /<content>.*secret/u)
  const again = await line('learnings', 'candidates', 'publish', other)
  t.regex(again.err, /was rejected.*\(learning_candidate_rejected\)/u)
})

test('learnings-26: one of them is told whole, a row is one line, and a line that changed nothing says so', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const run = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await line(...words)
    t.is(code, 0, `${words.join(' ')}: ${err}`)
    return out
  }
  const idIn = (out: string): string => /^(?:candidate|learning)_\w+/u.exec(out)?.[0] ?? out
  const long = `The harbour\nis deep\u001b[2J, ${'so deep '.repeat(40)}`
  const row = await run('learnings', 'candidates', 'create', long, '--kind', 'fact', '--run', 'r1')
  t.is(row.trim().split('\n').length, 1)
  t.regex(row, /The harbour is deep\\u001b\[2J, so deep.*…\n$/u)
  t.true(row.length < 250)
  const candidate = idIn(row)
  const whole = await run('learnings', 'candidates', 'get', candidate)
  t.regex(whole, /\n {2}The harbour\n {2}is deep\\u001b/u)
  t.regex(whole, /\n {2}from holdfast runs get r1\n/u)
  t.regex(whole, new RegExp(`\n {2}holdfast learnings candidates publish ${candidate}\n`, 'u'))
  const learning = idIn(await run('learnings', 'candidates', 'publish', candidate, 'The harbour is deep.'))
  t.notRegex(await run('learnings', 'candidates', 'publish', candidate), /was there already/u)
  t.regex(await run('learnings', 'candidates', 'publish', candidate, 'It is not.'), /It was there already, and what/u)
  t.regex(await run('learnings', 'candidates', 'publish', candidate, '--supersedes', learning), /was there already/u)
  const next = idIn(await run('learnings', 'supersede', learning, 'The harbour is shallow.'))
  const again = ['learnings', 'supersede', learning, 'The harbour is shallow.']
  t.notRegex(await run(...again), /was there already/u)
  t.regex(await run(...again, '--confidence', '7'), /was there already/u)
  t.regex(
    await run('learnings', 'get', next),
    new RegExp(`decided: manual by operator, .*in the place of ${learning}`, 'su'),
  )
  t.regex(await run('learnings', 'get', learning), new RegExp(`superseded by ${next}`, 'u'))
  const policy = await run('runtime', 'learning-policy', 'get')
  t.regex(policy, /^mode shadow\nsummaries of runs on, what runs teach off\njudge off\nelse manual_review\n/u)
})

import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { startOpenAiServer, calling, saying } from '../../../support/openai-server.js'
import { overrideGate } from '../../../../plugins/execution/sessions/tool-overrides.js'
import type { ToolGate } from '../../../../plugins/execution/tools/contract.js'
import { createToolView } from '../../../../plugins/execution/tools/visibility.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

test('sessions-32: what is turned off is neither shown to the model nor called, in this session alone', async (t) => {
  const server = await startOpenAiServer(({ number }) =>
    number === 1 ? calling({ id: 'c1', name: 'read_file', input: '{"path":"a"}' }) : saying('Well.'),
  )
  t.teardown(server.close)
  const flags = { provider: 'openai_compatible', 'provider-base-url': server.url, model: 'm' }
  const daemon = await startTestDaemon(t, { flags })
  await openSession(daemon)
  await openSession(daemon, 's2')
  const set = await daemon.request('PUT', '/v1/sessions/s1/tool-overrides', {
    tool_overrides: { disable: ['read_file', 'bash'] },
  })
  t.deepEqual([set.status, set.body.tool_overrides], [200, { enable: [], disable: ['bash', 'read_file'] }])
  const run = await until(daemon, (await submit(daemon, 's1', 'Look')).run_id, 'completed')
  const ended = (await daemon.request('GET', `/v1/runs/${run.run_id}/events?steps=true`)).body
    .map(({ event }: any) => event)
    .find(({ type }: any) => type === 'tool_ended')
  t.like(ended, { tool_name: 'read_file', outcome: 'failed', code: 'tool_turned_off' })
  await until(daemon, (await submit(daemon, 's2', 'Look')).run_id, 'completed')
  const shown = (asked: any): string[] => asked.body.tools.map((tool: any) => tool.function.name)
  const [mine, theirs] = [shown(server.asked[0]), shown(server.asked.at(-1))]
  t.deepEqual(theirs.filter((name) => !mine.includes(name)).toSorted(), ['bash', 'read_file'])
  const check = async (session_id: string) =>
    (await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash', session_id })).body.reason
  t.regex(await check('s1'), /turned off in this session\. .*tool_turned_off/u)
  t.notRegex(await check('s2'), /turned off/u)
})

test('sessions-32: the most exact name decides, so that one stays on where a wider one is off', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/tool-overrides', {
    tool_overrides: { disable: ['*', 'list_f*'], enable: ['list_files', 'read_*'] },
  })
  const { body } = await daemon.request('POST', '/v1/runtime/permissions/matrix', { session_id: 's1' })
  const names: string[] = body.modes[0].tools.map(({ tool_name }: any) => tool_name)
  t.true(names.includes('list_files'))
  t.true(
    names.every((name) => name === 'list_files' || name.startsWith('read_')),
    names.join(' '),
  )
})

test('sessions-33: a name that is no tool, or on both lists, is refused, and what may still come is not', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const set = (tool_overrides: object) => daemon.request('PUT', '/v1/sessions/s1/tool-overrides', { tool_overrides })
  const wrong = await set({ disable: ['bsh', 'bash'], enable: ['bash'] })
  t.deepEqual(codeOf(wrong), [400, 'tool_overrides_invalid'])
  t.deepEqual(wrong.body.errors, [
    { path: 'body.tool_overrides.enable.0', rule: 'must not be both enabled and disabled' },
    { path: 'body.tool_overrides.disable.0', rule: 'must be the name of a tool; did you mean bash?' },
    { path: 'body.tool_overrides.disable.1', rule: 'must not be both enabled and disabled' },
  ])
  t.is(
    (
      await daemon.request('POST', '/v1/sessions/s1/tool-overrides', {
        tool_overrides: { disable: ['mcp__later__x', 'zz*'] },
      })
    ).status,
    200,
  )
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/tool-overrides')).body, {
    tool_overrides: { enable: [], disable: ['mcp__later__x', 'zz*'] },
  })
  const holdfast = createCommandLine(daemon)
  const told = await holdfast('sessions', 'set-tools', 's1', '--disable', 'bsh')
  t.regex(told.err, /--disable must be the name of a tool; did you mean bash\?/u)
  const done = await holdfast('sessions', 'set-tools', 's1', '--disable', 'bash, mcp__*', '--enable', 'mcp__a__b')
  t.regex(done.out, /^ {2}tools {2}off: bash, mcp__\*; on: mcp__a__b$/mu)
  for (const [line, said] of [
    [['set-tools', 's1', '--disable', ''], /--disable names no tool/u],
    [['set-tools', 's1', '--disable', 'bash', '--enable', ' , '], /--enable names no tool/u],
    [['set-tools', 's1', '--clear', '--disable', 'bash'], /--clear does not go with --disable/u],
    [['set-policy', 's1', '--clear', '--model', 'm'], /--clear does not go with --model/u],
    [['reply-targets', 's1', 'http://127.0.0.1:9/', '--clear'], /--clear does not go with <url>/u],
  ] as const) {
    const refused = await holdfast('sessions', ...line)
    t.is(refused.code, 2)
    t.regex(refused.err, said)
  }
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/tool-overrides')).body, {
    tool_overrides: { enable: ['mcp__a__b'], disable: ['bash', 'mcp__*'] },
  })
  t.is((await daemon.request('DELETE', '/v1/sessions/s1/tool-overrides')).body.tool_overrides, undefined)
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/tool-overrides')).body, {
    tool_overrides: { enable: [], disable: [] },
  })
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/no/tool-overrides')), [404, 'session_not_found'])
})

test('sessions-32: nothing is enabled that something else hides, and who calls it is not told of it', (t) => {
  const overrides = (lists: object) =>
    overrideGate({ find: () => ({ tool_overrides: { enable: [], disable: [], ...lists } }) as any })
  const scope: ToolGate = {
    id: 'scope',
    hidden:
      () =>
      ({ name }) =>
        name === 'a',
  }
  const view = (...gates: ToolGate[]) =>
    createToolView({ tools: () => [{ name: 'a' }, { name: 'b' }], gates: () => gates, log: { error: () => {} } as any })
  const enabled = view(scope, overrides({ enable: ['a'], disable: ['b'] }))
  t.deepEqual(enabled.list('s1'), [])
  t.deepEqual([enabled.isOff('a', 's1'), enabled.isOff('b', 's1'), enabled.isOff('c', 's1')], [false, true, false])
  t.false(view(scope, overrides({ disable: ['a'] })).isOff('a', 's1'))
})

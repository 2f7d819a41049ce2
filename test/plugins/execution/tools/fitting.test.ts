import test from 'ava'
import { createRuleFitting } from '../../../../plugins/execution/tools/fitting.js'
import { startTestDaemon } from '../../../support/daemon.js'

const rule = (tool_name_pattern: string) => ({ scope: 'user', tool_name_pattern, behavior: 'deny' }) as const

test('tools-37: a permission rule that fits no tool is told, with the name that was probably meant', async (t) => {
  const patterns = ['Bash', 'bsah', 'bash', 'write_*', 'wriet_*', '*', 'mcp__files__read_*', 'mc*']
  const { request } = await startTestDaemon(t, { config: { tools: { permission_rules: patterns.map(rule) } } })
  const { warnings } = (await request('GET', '/v1/status')).body.health
  t.deepEqual(
    warnings
      .filter(({ code }: any) => code === 'permission_rule_fits_nothing')
      .map(({ severity, related_id, action }: any) => [severity, related_id, /^If (\w+) is/u.exec(action)?.[1]]),
    [
      ['warning', 'Bash', 'bash'],
      ['warning', 'bsah', 'bash'],
      ['warning', 'wriet_*', undefined],
      ['info', 'mcp__files__read_*', undefined],
      ['info', 'mc*', undefined],
    ],
  )
})

test('tools-37: nothing is said of tools that may come, and rules are looked at again when tools have come', (t) => {
  let arriving: Promise<void> | undefined = Promise.resolve()
  let list: any[] = [{ name: 'bash' }]
  const look = createRuleFitting([rule('mcp__files__read')], { list: () => list, arrival: () => arriving })
  t.deepEqual(look(), [])
  arriving = undefined
  t.is(look().length, 1)
  list = [{ name: 'mcp__files__read' }]
  t.deepEqual(look(), [])
})

import test from 'ava'
import { createToolView, type GatedTool, type ToolGate } from '../../../../plugins/execution/tools/visibility.js'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

test('what a gate hides by names is gone through once while names and tools are the same', (t) => {
  let tools: readonly GatedTool[] = [{ name: 'read' }, { name: 'write' }, { name: 'draw' }]
  let hidden: ReadonlySet<string> | undefined = new Set(['draw'])
  const gates: ToolGate[] = [{ id: 'names', hidden: () => hidden }]
  const view = createToolView({ tools: () => tools, gates: () => gates, log: quiet })
  const names = (): string[] => view.list('s1').map(({ name }) => name)
  t.deepEqual(names(), ['read', 'write'])
  t.is(view.list('s1'), view.list('s2'))
  t.true(view.hides({ name: 'draw' }, 's1'))
  t.is(view.find('draw', 's1'), undefined)
  hidden = new Set(['write'])
  t.deepEqual(names(), ['read', 'draw'])
  tools = [...tools, { name: 'late' }]
  t.deepEqual(names(), ['read', 'draw', 'late'])
  hidden = undefined
  t.deepEqual(names(), ['read', 'write', 'draw', 'late'])
  hidden = new Set(['write'])
  gates.push({
    id: 'own',
    hidden:
      (session_id) =>
      ({ name }) =>
        session_id === 's1' && name === 'late',
  })
  t.deepEqual(names(), ['read', 'draw'])
  t.deepEqual(
    view.list('s2').map(({ name }) => name),
    ['read', 'draw', 'late'],
  )
})

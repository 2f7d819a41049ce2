/** A daemon whose tools are called as its engine calls them. */
import type { ExecutionContext } from 'ava'
import { assert } from '../../core/base/assert.js'
import { parse } from '../../core/base/parse.js'
import { Tools, type Tool } from '../../plugins/execution/tools/contract.js'
import { startTestDaemon, type TestDaemon, type TestDaemonOptions } from './daemon.js'
import { callOf, makeFolder, resultOf, type Answer } from './tools.js'
import { lender } from './plugins.js'

export interface DaemonTools {
  readonly daemon: TestDaemon
  readonly workspace: string
  readonly tool: (name: string) => Tool
  /** Calls a tool in a session; what it applies is committed. */
  readonly call: (name: string, input?: object, session_id?: string) => Promise<Answer & { output: any }>
}

export const startDaemonTools = async (t: ExecutionContext, options: TestDaemonOptions = {}): Promise<DaemonTools> => {
  const { plugin, context } = lender({})
  const daemon = await startTestDaemon(t, { ...options, plugins: [plugin] })
  const workspace = await makeFolder(t)
  const tool = (name: string): Tool => {
    const found = context()
      .view(Tools)()
      .find((one) => one.name === name)
    assert(found, `there is no ${name}`)
    return found
  }
  const call: DaemonTools['call'] = async (name, input = {}, session_id = 's1') => {
    const parsed = parse(tool(name).input, input)
    assert(parsed.ok, `the input was refused: ${JSON.stringify(parsed)}`)
    const outcome = await tool(name).run(parsed.value, callOf(workspace, { session_id }))
    assert(outcome.type === 'result', `${name} asks`)
    if (outcome.apply !== undefined) await context().state.commit(outcome.apply)
    return resultOf(outcome)
  }
  return { daemon, workspace, tool, call }
}

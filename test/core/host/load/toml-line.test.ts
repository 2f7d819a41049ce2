import test from 'ava'
import { lineOf } from '../../../../core/host/load/toml-line.js'

const text = `
colour = "red" # colour = "blue"
"odd.name" = 1
size.width = 2

[pots.small]
size = 3
[[hooks.stop]]
name = "a"
[[hooks.stop]]
  name = "b"
  [hooks.stop.executor]
  type = "command"
`

test('the line of a member is found in tables, in arrays of tables, and of what is missing the line around it', (t) => {
  for (const [path, line] of [
    ['colour', 2],
    ['odd.name', 3],
    ['size.width', 4],
    ['pots.small.size', 7],
    ['hooks.stop.0.name', 9],
    ['hooks.stop.1.name', 11],
    ['hooks.stop.1.executor.type', 13],
    ['hooks.stop.1.executor.command', 12],
    ['hooks.stop.0.executor', 8],
    ['hooks', 8],
    ['hooks.stop', 8],
    ['pots', 6],
    ['size', 4],
    ['colours', undefined],
  ] as const)
    t.is(lineOf(text, path), line, path)
})

/** Parts as esbuild writes them, in one script: each is evaluated when it is needed, and its lines are found again. */
import { createRequire } from 'node:module'
import vm from 'node:vm'
import test from 'ava'
import { scriptOf, type Part } from '../../../core/build/parts.js'

const part = (name: string, text: string): Part => ({ name, text, map: `map of ${name}` })

/** What the parts of a script show, by name, and the names of those that were evaluated, in order. */
const run = async (parts: readonly Part[]) => {
  const { text, sections } = await scriptOf(parts)
  const evaluated: string[] = []
  const asked: string[] = []
  const shown = new Map<string, any>()
  const place = {
    filename: 'f',
    part: (name: string): any => {
      if (!shown.has(name)) {
        shown.set(name, made[name]())
        evaluated.push(name)
      }
      return shown.get(name)
    },
    lazy: async (name: string) => place.part(name.slice(2)),
    load: async (name: string) => asked.push(name),
  }
  const made = new vm.Script(text, { filename: 'x.cjs' }).runInThisContext()(createRequire(import.meta.url), place)
  return { part: place.part, evaluated, asked, sections }
}

test('a part binds what it imports, whatever the form, and shows what it exports', async (t) => {
  const { part: of, evaluated } = await run([
    part('b.js', 'import"./c.js";var x=1,$y=2;function f(){return x+$y}\nexport{x as default,f,$y as why};\n'),
    part('c.js', 'globalThis.partsOfTest=["c"];\n'),
    part(
      'a.js',
      'import{f,\nwhy as z}from"./b.js";import one from"./b.js";var all=f()+z;import path,{join as\nj}from"node:path";' +
        'import*as os from"node:os";var text="import{no}from\\"./no.js\\";export{no}";\n' +
        'export{all,one,text,j as joined,path,os};\n',
    ),
    part('d.js', 'import{x}from"./unused.js";'),
    part('e.js', 'var e=require_e();function require_e(){return{a:1}}export default e;\n'),
  ])
  const a = of('a.js')
  t.deepEqual([a.all, a.one, a.text], [5, 1, 'import{no}from"./no.js";export{no}'])
  t.is(a.joined('a', 'b'), a.path.join('a', 'b'))
  t.is(typeof a.os.cpus, 'function')
  t.deepEqual(evaluated, ['c.js', 'b.js', 'a.js'], 'what nobody needs is not evaluated')
  t.deepEqual(of('e.js'), { default: { a: 1 } })
  t.deepEqual(Reflect.get(globalThis, 'partsOfTest'), ['c'])
})

test('a part is evaluated once, also by imports of later', async (t) => {
  const {
    part: of,
    evaluated,
    asked,
  } = await run([
    part(
      'a.js',
      'var later=()=>import("./b.js"),strange=name=>import(name),own=()=>import("ajv");export{later,strange,own};',
    ),
    part('b.js', 'var b={};export{b};'),
  ])
  const { later, strange, own } = of('a.js')
  t.deepEqual(evaluated, ['a.js'])
  t.is((await later()).b, (await later()).b)
  t.deepEqual(evaluated, ['a.js', 'b.js'])
  await strange('node:fs')
  await own()
  t.deepEqual(asked, ['node:fs', 'ajv'])
})

test('what is not in the program and would be imported by a start is refused', async (t) => {
  await t.throwsAsync(scriptOf([part('a.js', 'import{parse}from"yaml";parse();')]), { message: /^yaml is not/u })
})

test('the line of a script is that of its part', async (t) => {
  const parts = [
    part('a.js', 'var a=1;\nvar fail=()=>{throw new Error("a")};\nexport{a,fail};\n'),
    part(
      'b.js',
      'import{a}from"./a.js";\nimport{fail}from\n"./a.js";\nvar no=a;var deep=()=>fail(),\n' +
        'own=()=>{throw new Error("b")};\nexport{deep,own,no};\n',
    ),
  ]
  const { part: of, sections } = await run(parts)
  const lineOf = (call: () => void): unknown => {
    const { stack = '' } = t.throws(call) ?? {}
    const line = Number(/x\.cjs:(\d+):/u.exec(stack)?.[1])
    const section = sections.findLast((each) => each.line < line)
    return section && [section.map, line - section.line + section.skipped]
  }
  t.deepEqual(lineOf(of('b.js').deep), ['map of a.js', 2])
  t.deepEqual(lineOf(of('b.js').own), ['map of b.js', 5])
})

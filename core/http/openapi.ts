import type { JsonObject } from '../schema.js'
import type { RouteTable } from './table.js'
export const createOpenapi = ({ table, version }: { table: RouteTable; version: string }): (() => JsonObject) => () => ({ openapi: '3.1.0', info: { title: 'Holdfast', version }, paths: Object.fromEntries(table.list().map((e) => [e.route.path, {}])) })

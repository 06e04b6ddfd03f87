import { expect, test } from 'vitest'
import { Collection } from './collection'

interface Thing { name: string; size: number }
const things = () => new Collection<Thing>('things', (each) => each.name)
const change = (type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'RESET', object: unknown) => ({ topic: 'things', type, object })

test('it is not known before the first whole list, empty or not', () => {
  const all = things()
  expect(all.known.value).toBe(false)
  all.take(change('RESET', []))
  expect(all.known.value).toBe(true)
})

test('a change keeps its place, a new one comes at the end', () => {
  const all = things()
  all.take(change('RESET', [{ name: 'a', size: 1 }, { name: 'b', size: 1 }]))
  all.take(change('ADDED', { name: 'c', size: 1 }))
  all.take(change('MODIFIED', { name: 'a', size: 2 }))
  all.publish()
  expect(all.all.value.map((each) => [each.name, each.size])).toEqual([['a', 2], ['b', 1], ['c', 1]])
})

test('nobody is told before it is published', () => {
  const all = things()
  all.take(change('RESET', [{ name: 'a', size: 1 }]))
  expect(all.all.value).toEqual([])
})

test('a reset forgets what is gone', () => {
  const all = things()
  all.take(change('RESET', [{ name: 'a', size: 1 }]))
  all.take(change('RESET', [{ name: 'b', size: 1 }]))
  all.publish()
  expect(all.all.value.map((each) => each.name)).toEqual(['b'])
})

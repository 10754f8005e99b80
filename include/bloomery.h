/* All of Bloomery. Programs that need one job include its header instead: <bloomery/filter.h>. */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <bloomery/base.h>
#include <bloomery/counters.h>
#include <bloomery/filter.h>
#include <bloomery/hash.h>
#include <bloomery/index.h>
#include <bloomery/job.h>
#include <bloomery/map.h>
#include <bloomery/window.h>

#endif

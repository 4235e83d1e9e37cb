/* The C interfaces of all templates: what generated code gets by copy. */
#ifndef AOTC_TEMPLATES_TEMPLATES_H_
#define AOTC_TEMPLATES_TEMPLATES_H_

#include "matmul.h"
#include "sort.h"

#endif /* AOTC_TEMPLATES_TEMPLATES_H_ */

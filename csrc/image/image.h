/* SPDX-License-Identifier: MIT */
/* Images: pixels of a channel order and a channel type, and samplers, by which kernels read them.
 */
#ifndef CLC_IMAGE_H
#define CLC_IMAGE_H

#include "buffer/buffer.h"

/* --- formats: format.c ----------------------------------------------------- */

/* The channels of a pixel. */
typedef struct clc_Format {
  cl_image_format cl;
  const char *order, *type; /* as scripts write them: "rgba", "unorm8" */
  int channels;             /* elements of a pixel */
  const clc_Dtype *dtype;   /* of an element, as it is stored */
  const clc_Dtype *colour;  /* of the four numbers that fill it, as kernels write them */
} clc_Format;

/* The format that an argument names, "rgba unorm8". */
clc_Format clc_checkformat(lua_State *L, int arg);

/* Raises unless the device has images of that kind and format, and lists the formats that it has.
   `kind` is the kind in messages. */
void clc_checksupport(lua_State *L, clc_Device *d, int arg, const clc_Format *format,
                      cl_mem_object_type type, const char *kind);

/* --- images: image.c ------------------------------------------------------- */

typedef struct clc_Image {
  clc_Handle h;
  clc_Device *device;
  cl_mem mem;
  cl_mem_object_type type;
  clc_Format format;
  int dims;         /* extents, which are width, height and depth, or layers in place of the next */
  size_t extent[3]; /* 1 where there is none */
  clc_Shape shape;  /* of the same elements as a buffer: the extents back to front, the channels */
  size_t count;     /* elements */
  size_t allocated; /* bytes; 0: they are those of a buffer */
  clc_Buffer *view; /* on the buffer whose elements are its pixels; NULL: they are its own */
  clc_Region region; /* for the executor */
} clc_Image;

extern const clc_Type clc_imagetype;

clc_Image *clc_checkimage(lua_State *L, int arg);

/* Pushes a new image of that kind, whose pixels are not set. */
clc_Image *clc_newimage(lua_State *L, clc_Device *d, cl_mem_object_type type,
                        const clc_Format *format, int dims, const size_t extent[3]);

/* The kind of image that OpenCL C calls so ("image2d_t"); 0: it is none that this library has. */
cl_mem_object_type clc_findimagetype(const char *name);

/* Sets argument i of a launch to an image, and returns the code of clSetKernelArg. */
cl_int clc_setimage(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Image *im);

/* Has a recording (or NULL) hold the image for an argument, as clc_holdbuffer does. */
void clc_holdimage(lua_State *L, clc_Recording *r, cl_uint argument, const clc_Image *im);

/* What messages call a kind: "image2d". */
const char *clc_imagekind(cl_mem_object_type type);

/* --- samplers: sampler.c --------------------------------------------------- */

typedef struct clc_Sampler {
  clc_Handle h;
  clc_Device *device;
  cl_sampler sampler;
  int filter, address, normalized; /* which of the names in sampler.c */
} clc_Sampler;

extern const clc_Type clc_samplertype;

/* As clc_setimage. */
cl_int clc_setsampler(clc_Device *d, cl_kernel kernel, cl_uint i, const clc_Sampler *s);

/* Opens the package: methods of devices that make images and samplers, and their types. */
void clc_openimages(lua_State *L);

/* --- between the files of the package -------------------------------------- */

/* Raises on a device that has no images. */
void clc_checkimages(lua_State *L, clc_Device *d);

void clc_openpixels(lua_State *L);
void clc_opensamplers(lua_State *L);

#endif
